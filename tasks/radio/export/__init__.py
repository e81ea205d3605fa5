"""Stores of visibilities back to files, and what is lost from one format to another."""
