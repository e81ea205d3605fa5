"""The kind "name"."""
