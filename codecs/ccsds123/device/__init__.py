"""CUDA kernels of CCSDS-123, and their host side."""
