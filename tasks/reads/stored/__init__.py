"""Reads of a store: what it says of itself, its lines by number, its records as text."""
