"""Export of reads: stores to FASTQ, FASTA and BAM, and streams to FASTQ in another order."""
