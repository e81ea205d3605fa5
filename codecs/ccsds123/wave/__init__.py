"""Reconstruction of samples from mapped residuals, as a wavefront over the bands."""
