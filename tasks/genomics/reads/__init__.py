"""Sequencing reads: FASTQ, FASTA and BAM to stores and back, and records of stores by number."""
