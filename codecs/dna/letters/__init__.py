"""Conversion of text to packed bases and marks of other letters, and back."""
