"""Blocks of kind 5: floats that represent integers, coded as integers."""
