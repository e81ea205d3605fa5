"""Files of reads: FASTQ, FASTA and BAM as records, which are offsets into a text."""
