"""Codecs: what happens inside one chunk."""
