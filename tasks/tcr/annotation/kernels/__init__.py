"""Loops over letters of reads and genes."""
