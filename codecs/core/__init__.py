"""What all codecs share; knows no codec."""
