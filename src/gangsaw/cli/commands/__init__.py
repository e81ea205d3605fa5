"""Commands of the package itself, one per file; those of domains are in the plugin table."""
