"""Coding of the kind "offset"."""
