"""Alignment straight on packed bases, of two bits each."""
