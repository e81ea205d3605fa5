"""Ways to get a Dask client: one file each, `start(config) -> Client`."""
