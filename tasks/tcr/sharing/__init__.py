"""Sharing of nucleotypes across individuals."""
