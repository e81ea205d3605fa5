"""Visibilities of radio interferometers: their formats."""
