"""Targets of exports."""
