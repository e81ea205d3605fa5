"""Counts stores as tables, for programs without Zarr: alone, or appended to AIRR tables."""
