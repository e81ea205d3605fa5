"""The container of a chunk: header, index and payloads; the only parser of their bytes."""
