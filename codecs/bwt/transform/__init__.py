"""Burrows-Wheeler transform of a block, and its inverse. SPEC.md, Transform."""
