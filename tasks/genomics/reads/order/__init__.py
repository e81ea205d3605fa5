"""Orders of reads other than that of the files: neighbours in the genome become adjacent."""
