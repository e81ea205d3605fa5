"""Codec of nucleotide sequences: packed bases, runs of other letters. SPEC.md gives the bytes."""
