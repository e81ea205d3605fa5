"""Lanes: series of words of a block, and their layout in a table."""
