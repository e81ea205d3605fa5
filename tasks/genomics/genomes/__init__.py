"""Genomes: records of residues in one array, read by name and position."""
