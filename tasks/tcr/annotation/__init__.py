"""Annotation of reads: V gene, J gene and CDR3 of each read, and read counts per nucleotype."""
