"""Search in texts by FM-indexes of bytes and of bases, one for each chunk."""
