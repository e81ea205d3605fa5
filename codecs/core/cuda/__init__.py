"""The device: kernels compiled, launched and fed; the door to CuPy."""
