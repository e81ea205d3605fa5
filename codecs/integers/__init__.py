"""Codec of rows of integers, column by column; see SPEC.md."""
