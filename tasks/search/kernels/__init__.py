"""Compiled kernels of indexes: bits and lines, walks over rows, patterns."""
