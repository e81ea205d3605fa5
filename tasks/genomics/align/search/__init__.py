"""Search of queries in a genome: seeds, chains, alignments, and the selection of hits to report."""
