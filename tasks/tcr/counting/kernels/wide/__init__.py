"""Counts for palindromes and junctions of any length: loops over the limits instead of vectors."""
