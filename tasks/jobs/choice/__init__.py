"""Which codec, chunks and parameters an array gets."""
