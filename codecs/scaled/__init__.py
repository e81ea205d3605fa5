"""Codec of floats that are scaled integers, by a codec of integers; see SPEC.md."""
