"""Coding of the kind "sequence"."""
