"""Files of reads: FASTQ, FASTA and BAM as records, which are places in a text."""
