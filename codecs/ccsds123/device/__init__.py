"""Host side of the CUDA kernels, and the kernels."""
