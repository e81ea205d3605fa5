"""Nucleotypes that individuals share."""
