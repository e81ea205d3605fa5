"""Streams of read files: their arrays, and the comparison with stores in another order."""
