"""Path counts of many references as a dataset: checks, deduplication, counting."""
