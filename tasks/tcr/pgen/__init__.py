"""Probabilities of generation, by olga."""
