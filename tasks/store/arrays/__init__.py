"""Layouts, grids, keys and chunks of the arrays of a store."""
