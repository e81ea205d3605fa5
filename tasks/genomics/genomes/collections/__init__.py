"""Collections of genomes: what one shares with earlier ones."""
