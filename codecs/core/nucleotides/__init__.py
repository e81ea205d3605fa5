"""Nucleotides: their letters, codes and complements, and codes packed in bytes and words."""
