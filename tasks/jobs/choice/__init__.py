"""Choice of codec, chunks and parameters for each array."""
