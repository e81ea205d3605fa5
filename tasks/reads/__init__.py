"""Sequencing reads: FASTQ and FASTA into stores and back, and records of stores by number."""
