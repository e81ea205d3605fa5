"""Statistics of counts: correlations, regression, plots."""
