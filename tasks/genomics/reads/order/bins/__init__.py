"""Bins of reads: signatures on CPUs and GPUs, and the chain that orders the bins."""
