"""Tables of text and Parquet as streams of columns."""
