"""Numba kernels: how they are compiled, and vectors, bits and coders that they share."""
