"""Regressions: their design, the fit, and the LASSO's selection."""
