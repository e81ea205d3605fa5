"""Zarr interface of codecs: the only part of the core that imports zarr."""
