"""Lanes, and where the words of each are."""
