"""Compilation of kernels in advance: packs to distribute, and warm caches."""
