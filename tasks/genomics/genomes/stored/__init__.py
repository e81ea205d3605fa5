"""Stored genomes: reading, regions, export."""
