"""The decoder of effort dense on a GPU."""
