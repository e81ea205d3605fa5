"""Alignment along chains: extension, bands, and paths as runs of operations."""
