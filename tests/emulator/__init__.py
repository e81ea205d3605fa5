"""CUDA kernels on the CPU: an emulation, a stand-in for CuPy over it, and compile checks."""
