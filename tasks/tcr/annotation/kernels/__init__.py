"""Kernels over the bases of reads and genes."""
