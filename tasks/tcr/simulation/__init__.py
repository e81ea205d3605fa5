"""Simulated references and reads: seeded, with known truth."""
