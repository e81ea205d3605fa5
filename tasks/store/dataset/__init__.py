"""Data set of a store: its variables, their names, dtypes and attributes."""
