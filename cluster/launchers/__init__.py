"""Ways to start a Dask client, one file each: `start(config) -> Client`."""
