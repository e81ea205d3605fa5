"""Blocks of kind 5: floats that are integers in disguise, coded as those."""
