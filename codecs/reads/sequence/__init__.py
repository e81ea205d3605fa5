"""The kind "sequence"."""
