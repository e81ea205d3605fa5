"""The commands index and search."""
