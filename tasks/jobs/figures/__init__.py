"""Figures and plots of a store, for `info`."""
