"""Measurements of `gangsaw bench`."""
