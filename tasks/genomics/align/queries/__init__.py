"""Queries of an alignment job, and their readers for files and stores, in batches."""
