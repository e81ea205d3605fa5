"""Indexes in a store beside the data: what they are of, how a job makes them, how they are read."""
