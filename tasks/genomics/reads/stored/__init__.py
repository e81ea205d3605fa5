"""Reads of a store: description, lines by number, records as text."""
