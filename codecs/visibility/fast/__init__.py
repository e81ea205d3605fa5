"""Blocks of kind 2, `fast`: bit planes of groups."""
