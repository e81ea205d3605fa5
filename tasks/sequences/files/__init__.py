"""Files of sequences: how they begin, are compressed, read ahead and written."""
