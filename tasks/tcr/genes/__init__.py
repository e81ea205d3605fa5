"""Whole genes, for what is outside CDR3s."""
