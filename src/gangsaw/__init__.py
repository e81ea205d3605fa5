"""Gangsaw: domain codecs for Zarr, cut into indexed blocks, mapped over clusters by Dask."""
