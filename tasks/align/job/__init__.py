"""The job of an alignment: queries by batches, a genome by parts."""
