"""What is aligned and what comes of it: sets of sequences, their pairs, scores, alignments."""
