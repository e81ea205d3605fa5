"""Whole genes, including the parts outside CDR3s."""
