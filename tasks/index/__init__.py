"""Indexes of texts, and search in them: FM-indexes of bytes and of bases, one for each chunk."""
