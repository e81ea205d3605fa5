"""What jobs write besides Zarr: one file per format, each whole under its name or not there."""
