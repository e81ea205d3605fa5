"""Lanes of a Burrows-Wheeler string: its runs, ranks of their symbols, and initial lists."""
