"""Alignment job: queries by batches, a genome by parts."""
