"""Mutations: small faults planted in the product, to measure what the quick tests miss."""
