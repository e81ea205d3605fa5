"""Files of sequences: detection, decompression, read-ahead and writing."""
