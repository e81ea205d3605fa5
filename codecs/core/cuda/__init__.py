"""CUDA device: compilation, launch and input of kernels, and all uses of CuPy."""
