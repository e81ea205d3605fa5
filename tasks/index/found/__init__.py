"""What is found by indexes: places of patterns, longest matches of a text, lines around places."""
