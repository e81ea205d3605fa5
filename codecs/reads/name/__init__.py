"""Coding of the kind "name"."""
