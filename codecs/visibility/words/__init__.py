"""Blocks of kinds 0 and 1: words as they are, and the founding paper's construction."""
