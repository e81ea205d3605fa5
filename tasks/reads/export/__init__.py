"""Reads back into files: those of stores as FASTQ, FASTA and BAM, those of streams as FASTQ."""
