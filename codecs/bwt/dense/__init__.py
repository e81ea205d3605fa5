"""Effort dense of a Burrows-Wheeler string: adaptive counts, mixed."""
