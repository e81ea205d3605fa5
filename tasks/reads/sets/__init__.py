"""Which files of reads belong together: pairs, singles beside them, index reads, lanes."""
