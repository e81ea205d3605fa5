"""Alignment of packed bases, 2 bits each, without unpacking."""
