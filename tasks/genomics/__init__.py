"""Sequences, reads, genomes, and alignment with genomes."""
