"""Samples from mapped residuals: a wavefront over the bands."""
