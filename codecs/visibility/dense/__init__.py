"""Blocks of kinds 3 and 4, `dense`: each value by what its neighbours say of it."""
