"""Indexes of a store of reads: by names, and by signatures of sequences."""
