"""Blocks of kinds 3 and 4, `dense`: each value predicted from its neighbours."""
