"""Multispectral and hyperspectral images: scenes and their pictures."""
