"""Files of text and other bytes: one array of bytes, and back to the same file."""
