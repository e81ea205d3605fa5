"""Blocks of kinds 0 and 1: raw words, and the founding paper's construction."""
