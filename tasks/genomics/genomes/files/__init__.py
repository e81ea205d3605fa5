"""Files of genomes: FASTA, GenBank, 2bit."""
