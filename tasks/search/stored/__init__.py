"""Indexes in a store next to the data: contents, the job that builds them, and reading."""
