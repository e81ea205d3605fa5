"""Streams of columns from text and Parquet tables."""
