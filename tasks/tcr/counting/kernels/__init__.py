"""Path counting of references: kernels of both models for CPUs and GPUs, and their tables."""
