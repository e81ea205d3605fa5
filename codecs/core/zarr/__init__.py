"""What makes codecs Zarr codecs: nothing else in the core imports zarr."""
