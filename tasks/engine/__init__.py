"""How batches of work are handed to Dask, and what comes of them."""
