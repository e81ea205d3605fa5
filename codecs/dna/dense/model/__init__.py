"""Adaptive model of a dense block: tables, contexts and predictions."""
