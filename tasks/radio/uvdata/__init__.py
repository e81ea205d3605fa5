"""Uvfits and miriad by pyuvdata: random groups, checks of sizes, losses, conversion."""
