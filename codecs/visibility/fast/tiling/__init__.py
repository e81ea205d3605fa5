"""Tiles of `fast`: groups of rows, their modes and planes."""
