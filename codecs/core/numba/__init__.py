"""Numba kernels: their compilation, and shared functions for vectors, bits and coders."""
