"""Commands for genomes."""
