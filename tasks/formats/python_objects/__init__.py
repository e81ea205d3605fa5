"""Sources made of Python objects: arrays of NumPy, Dask and Zarr, and objects of xarray."""
