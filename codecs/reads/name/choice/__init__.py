"""Decisions of an encoder of names, by integer costs."""
