"""Orders of reads other than that of their files: neighbours in the genome become neighbours."""
