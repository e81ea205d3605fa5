"""Files of text and other bytes: one array of bytes, exported to the same file."""
