"""Band, row and column axes of an image, found by the axis names of its array."""

from __future__ import annotations

from gangsaw.codecs.core.axes import image_axes, spectral_axis
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.source import SourceArray

__all__ = ["image_axes", "image_dims", "spectral_axis"]


def image_dims(source: SourceArray) -> tuple[str | None, str, str]:
    """Return the names of the band, row and column axes; raise BadParams if it is no image."""
    if not 2 <= len(source.dims) <= 3:
        raise BadParams(
            f"{source.name} has {len(source.dims)} axes, ENVI and the interleaves of raw files "
            "hold two or three; decompress to Zarr, NetCDF or raw without an interleave"
        )
    axis = spectral_axis(source.dims)
    y, x = (name for i, name in enumerate(source.dims) if i != axis)
    return (None if axis is None else source.dims[axis]), y, x
