"""Stores held against their manifests, their sources, and what a field's library reads."""
