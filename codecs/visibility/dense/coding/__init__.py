"""Values of `dense` to symbols, bits and a stream, and back."""
