"""Files of reads as a stream of arrays, and the stream that a store in another order must equal."""
