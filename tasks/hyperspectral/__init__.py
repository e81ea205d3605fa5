"""Multispectral and hyperspectral images: formats of products, synthetic scenes and plots."""
