"""What the libraries of radio astronomy read of a source, by their plain calls."""
