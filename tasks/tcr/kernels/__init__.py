"""What one reference needs: kernels of both models on CPUs and GPUs, and their tables."""
