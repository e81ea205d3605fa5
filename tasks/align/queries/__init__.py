"""The queries: records of files and of stores, in batches."""
