"""Codec of text and other bytes by the Burrows-Wheeler transform. SPEC.md gives the bytes."""
