"""Counts of many references: what can be counted, each distinct one once, as a dataset."""
