"""Jobs over all chunks of arrays: compress, verify, decompress, info."""
