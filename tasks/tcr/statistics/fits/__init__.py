"""Regressions: their design, the fit, and what the LASSO keeps."""
