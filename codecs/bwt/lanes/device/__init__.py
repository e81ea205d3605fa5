"""Runs, ranks and lists of lanes on a GPU."""
