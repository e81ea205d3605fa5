"""Verification of a store against its manifests, its source and independent readers."""
