"""Conversion of `dense` values to symbols, bits and a stream, and back."""
