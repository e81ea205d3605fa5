"""Whole commands that are killed at random instants, again and again."""
