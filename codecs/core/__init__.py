"""Shared parts of all codecs, independent of any single codec."""
