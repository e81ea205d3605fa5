"""Bins of reads: signatures on CPUs and GPUs, and the walk that gives bins their order."""
