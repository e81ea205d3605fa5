"""Commands of genomes."""
