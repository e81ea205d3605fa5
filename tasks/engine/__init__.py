"""How batches of work are submitted to Dask, and how their results return."""
