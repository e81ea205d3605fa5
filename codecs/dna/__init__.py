"""Codec for nucleotide sequences: packed letters, runs of them. SPEC.md gives the bytes."""
