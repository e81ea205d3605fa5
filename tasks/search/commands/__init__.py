"""Commands `gangsaw index` and `gangsaw search`."""
