"""Submission of batches to Dask, and collection of their results."""
