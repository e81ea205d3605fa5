"""Genotypes of donors: the alleles that each has."""
