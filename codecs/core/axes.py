"""What an axis is, told by its name, as data sets give no other sign of it."""

from __future__ import annotations

SPECTRAL = {"band", "bands", "wavelength", "wavelengths", "wl", "lambda", "channel", "channels"}
SPECTRAL |= {"frequency", "spectral", "z"}


def spectral_axis(dims: tuple[str, ...]) -> int | None:
    """Return which of the last three axes is spectral; the first of three where no name says so."""
    rank = len(dims)
    last = range(max(0, rank - 3), rank)
    named = [axis for axis in last if dims[axis].lower() in SPECTRAL]
    if named and rank > 2:
        return named[0]
    return rank - 3 if rank > 2 else None


def image_axes(dims: tuple[str, ...]) -> str:
    """Return what the last three axes are: a permutation of "zyx"; fewer are the last of "zyx"."""
    axis = spectral_axis(dims)
    if axis is None:
        return "zyx"
    place = axis - (len(dims) - 3)
    return "yx"[:place] + "z" + "yx"[place:]
