"""Functions of one chunk: encode, decode, check, on CPU and GPU."""
