"""The Zarr face of codecs: alone among the codecs it imports zarr."""
