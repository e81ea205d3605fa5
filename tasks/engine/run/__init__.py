"""Runs of a job: on Dask, in this process, in a graph, over bags."""
