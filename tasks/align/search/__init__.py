"""The search of queries in a genome: seeds, chains, alignments, and which of them count."""
