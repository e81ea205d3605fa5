"""Lossless compression of sequencing reads: sequences, qualities, names and offsets of lines."""
