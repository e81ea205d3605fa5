"""Uvfits and miriad, through pyuvdata: groups as they are, sizes, losses, conversion."""
