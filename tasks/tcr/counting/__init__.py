"""Counting of recombination paths: kernels, and arrays of paths."""
