"""Related genomes: letters that are known, and where each genome follows them."""
