"""Formats of repertoires, one object each."""
