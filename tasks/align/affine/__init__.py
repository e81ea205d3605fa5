"""Exact alignment of pairs with affine gaps: many in lanes, long ones in strips."""
