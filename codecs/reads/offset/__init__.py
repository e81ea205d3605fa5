"""The kind "offset"."""
