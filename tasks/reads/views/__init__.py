"""Views of a store of reads: in Python by number, in words and as a picture."""
