"""CUDA headers with functions of a warp or a thread block."""
