"""ENVI images."""
