"""Container of a chunk: header, index and payloads, and the only parser of their bytes."""
