"""A toy codec: lines of text, of which each repeats the begin of the one before."""
