"""What counts say: correlations, regression, plots."""
