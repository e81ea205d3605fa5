"""Input and output of alignments: sequence sets, pairs, scores, alignments."""
