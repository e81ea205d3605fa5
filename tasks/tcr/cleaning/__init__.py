"""Which rows of a repertoire are counted, and why the others are not."""
