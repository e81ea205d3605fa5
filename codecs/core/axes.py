"""Meaning of axes by their names, as data sets have no other sign of it."""

from __future__ import annotations

import re

SPECTRAL = {"band", "bands", "wavelength", "wavelengths", "wl", "lambda", "channel", "channels"}
SPECTRAL |= {"frequency", "spectral", "z"}
SPATIAL = {"y", "x", "row", "rows", "column", "columns", "col", "cols", "line", "lines"}
SPATIAL |= {"sample", "samples", "pixel", "pixels", "scan", "scans", "downtrack", "crosstrack"}
SPATIAL |= {"lat", "lon", "latitude", "longitude", "northing", "easting"}


def named_axis(dims: tuple[str, ...]) -> int | None:
    """Return the index of the spectral axis among the last three by name; None if unclear.

    A name matches by one of its words, such as number_of_bands and wavelength_3d. If the names of
    two axes mean rows and columns, the third one is spectral.
    """
    last = range(max(0, len(dims) - 3), len(dims))
    if len(last) < 3:
        return None
    if named := [axis for axis in last if dims[axis].lower() in SPECTRAL]:
        return named[0]
    if named := [axis for axis in last if _words(dims[axis]) & SPECTRAL]:
        return named[0]
    others = [axis for axis in last if not _words(dims[axis]) & SPATIAL]
    return others[0] if len(others) == 1 else None


def _words(name: str) -> set[str]:
    return set(re.split("[^a-z]+", name.lower()))


def spectral_axis(dims: tuple[str, ...]) -> int | None:
    """Return the index of the spectral axis: by name, else the first of the last three axes."""
    rank = len(dims)
    if rank < 3:
        return None
    named = named_axis(dims)
    return rank - 3 if named is None else named


def image_axes(dims: tuple[str, ...]) -> str:
    """Return the meaning of the last three axes, a permutation of "zyx"; two axes are "yx"."""
    axis = spectral_axis(dims)
    return "zyx" if axis is None else axes_with(axis - (len(dims) - 3))


def axes_with(place: int) -> str:
    """Return the permutation of "zyx" with the spectral axis z at index `place`, 0 to 2."""
    return "yx"[:place] + "z" + "yx"[place:]
