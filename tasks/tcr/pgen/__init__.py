"""Probabilities of generation, computed with olga."""
