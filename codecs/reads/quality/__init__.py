"""Coding of the kind "quality"."""
