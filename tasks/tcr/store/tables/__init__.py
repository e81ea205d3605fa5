"""Stores of counts as tables, for programs that read no Zarr: alone, or beside AIRR's columns."""
