"""Search results: positions of patterns, longest matches of a text, and lines around positions."""
