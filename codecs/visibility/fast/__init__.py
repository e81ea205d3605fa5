"""Blocks of kind 2, `fast`: groups of rows as bit planes."""
