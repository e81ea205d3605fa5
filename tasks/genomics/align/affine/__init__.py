"""Exact pairwise alignment with affine gaps: many pairs in vector lanes, long pairs in strips."""
