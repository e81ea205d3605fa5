"""Objects of Python as sources: arrays of NumPy, Dask and Zarr, and what xarray has."""
