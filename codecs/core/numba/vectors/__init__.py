"""Vectors of integers and floats as values of Numba kernels."""
