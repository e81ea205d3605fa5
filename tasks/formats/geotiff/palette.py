"""Palette of an image as a coordinate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from rasterio.enums import ColorInterp

from gangsaw.tasks.sources.source import Coordinate

if TYPE_CHECKING:
    from rasterio.io import DatasetReader

PALETTE = "palette"
DIMS = ("palette_index", "rgba")
Colours = dict[int, tuple[int, int, int, int]]


def palette_coordinates(image: DatasetReader) -> tuple[Coordinate, ...]:
    """Return the palette of the first band as a coordinate, (entries, 4) uint8, () if none."""
    if image.colorinterp[0] != ColorInterp.palette:
        return ()
    colours: Colours = image.colormap(1)
    values = np.array([colours[i] for i in sorted(colours)], np.uint8)
    return (Coordinate(PALETTE, DIMS, values, {"long_name": "colour of each value"}),)


def palette_of(coords: Iterable[Coordinate]) -> Colours:
    """Return the palette in the form of rasterio, {} if there is none."""
    for coord in coords:
        if coord.name == PALETTE and coord.dims == DIMS:
            rows = coord.values.tolist()
            return {i: (row[0], row[1], row[2], row[3]) for i, row in enumerate(rows)}
    return {}
