"""Colours of all plots."""

INK, ACCENT, SOFT = "#1f2933", "#b5442a", "#d9dee3"
