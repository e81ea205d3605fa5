"""Codec for text and logs: Burrows-Wheeler transform of blocks. SPEC.md gives the bytes."""
