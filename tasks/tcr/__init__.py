"""T-cell-receptor recombination paths: how many ways lead to a given CDR3."""
