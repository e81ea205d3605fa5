"""CCSDS 123.0-B lossless multispectral and hyperspectral image compression."""
