"""The kind "quality"."""
