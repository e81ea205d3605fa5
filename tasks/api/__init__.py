"""Public functions, their arguments, workers, and the accessor of xarray."""
