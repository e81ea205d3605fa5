"""Dimensions, groups, records and times of NetCDF."""
