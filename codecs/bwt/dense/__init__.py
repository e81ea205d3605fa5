"""Effort dense for Burrows-Wheeler strings: mixed adaptive counts."""
