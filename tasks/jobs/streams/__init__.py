"""Storage of streams of unknown length in growing arrays."""
