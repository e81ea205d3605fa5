"""Effort fast on a GPU."""
