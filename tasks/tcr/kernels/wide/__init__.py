"""Palindromes and junctions of any length: plain loops over the limits, where vectors end."""
