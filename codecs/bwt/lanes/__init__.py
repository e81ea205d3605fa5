"""Lanes of a Burrows-Wheeler string: its runs, the ranks of their symbols, the lists they begin with."""
