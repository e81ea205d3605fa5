"""Samples of an encoder in memory: rows of pixels with the bands of each pixel side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.params import Image
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.tiles import Tile, copy_items
from gangsaw.codecs.core.numba.vectors.integers import load, static, store, value_of

HALO = 16  # lanes before the first band: P <= 15, and one more for narrow sums
BATCH_BYTES = 1 << 20  # samples of a batch of rows: they stay in a usual second-level cache


class RowLayout(NamedTuple):
    """Where samples lie in a flat array of rows.

    Attributes
    ----------
    width : lanes of one pixel, halo included
    pitch : elements from row to row; a row has one pixel in front of its first (W and NW of x = 0)
    columns : NX
    """

    width: int
    pitch: int
    columns: int


@jit
def _load_rows(
    x: Any, span: Any, samples: Any, layout: Any, lane: int, extremes: Any, tile: Any
) -> None:
    """Copy rows of x (z, y, x) to the lanes from `lane` on of rows 1, 2, ..

    span : first row, how many rows, first band; tile : as `copy_items` takes it

    Tiles at the end of an axis overlap those before them. extremes (2, lanes of a tile) holds the
    smallest and the largest sample so far by lane.
    """
    y, rows, first_band = span
    lanes = value_of(tile[0])
    columns = value_of(tile[1])  # a transposed tile is square, one along z has one column
    stop = min(x.shape[0], first_band + layout.width - lane)
    flat = extremes.ravel()
    ends = (load(flat, 0, tile[0]), load(flat, lanes, tile[0]))
    for band in range(first_band, stop, lanes):
        z = min(band, stop - lanes)
        for r in range(rows):
            origin = (r + 1) * layout.pitch + layout.width + lane
            for column in range(0, layout.columns, columns):
                i = min(column, layout.columns - columns)
                place = origin + z - first_band + i * layout.width
                steps = (place, layout.width)
                ends = copy_items(x, (z, y + r, i), samples, steps, ends, tile)
    store(flat, 0, ends[0])
    store(flat, lanes, ends[1])


def group_lanes(image: Image, lanes: int, itemsize: int) -> int:
    """Return how many bands to work on row by row: some rows of them make a batch."""
    most = max(1, BATCH_BYTES // 4 // ((image.n_columns + 1) * itemsize * lanes))
    return lanes * min(-(-image.n_bands // lanes), most)


class BandRows:
    """Samples of a group of bands with the bands side by side, some rows at a time.

    Attributes
    ----------
    layout : where samples lie in the buffer
    buffer : flat, of the lane type; row 0 is the one before the batch
    """

    def __init__(
        self,
        x: npt.NDArray[Any],
        image: Image,
        bands: int,
        dtype: np.dtype[Any],
        first_band: int,
        lanes: int,
    ) -> None:
        self.x, self.image = x.view(), image
        self.x.flags.writeable = False  # a kernel is compiled for what may be written, too
        self.bands_before = min(first_band, bands + 1)
        self.first_band = first_band
        width = HALO + lanes
        self.layout = RowLayout(width, (image.n_columns + 1) * width, image.n_columns)
        row_bytes = self.layout.pitch * dtype.itemsize
        self.batch = min(max(1, BATCH_BYTES // row_bytes), image.n_rows)
        self.tile = _tile(x, min(self.bands_before + lanes, x.shape[0] - first_band))
        self.extremes = np.full((2, len(self.tile[0])), x[0, 0, 0])
        self.buffer = np.full((self.batch + 1) * self.layout.pitch, image.middle, dtype)

    def batches(self) -> Iterator[tuple[int, int]]:
        """Yield (first row, number of rows) of each batch once it is in the buffer."""
        pitch = self.layout.pitch
        for y in range(0, self.image.n_rows, self.batch):
            rows = min(self.batch, self.image.n_rows - y)
            before = self.bands_before
            _load_rows(
                self.x,
                (y, rows, self.first_band - before),
                self.buffer,
                self.layout,
                HALO - before,
                self.extremes,
                self.tile,
            )
            check_range(self.image, self.extremes[0].min(), self.extremes[1].max())
            yield y, rows
            self.buffer[:pitch] = self.buffer[rows * pitch : (rows + 1) * pitch]


def _tile(x: npt.NDArray[Any], bands: int) -> Tile:
    """Return the extents of the tiles to copy: square where x is the fastest axis of memory."""
    along_z, along_x = (x.strides[axis] == x.itemsize for axis in (0, 2))
    if along_x:
        side = next(n for n in (16, 4, 1) if n <= min(bands, x.shape[2]) or n == 1)
        return static(side), static(side)
    lanes = next(n for n in (16, 4, 1) if n <= bands or n == 1) if along_z else 1
    return static(lanes), static(1)


def check_range(image: Image, lowest: int, highest: int) -> None:
    """Raise BadParams if the smallest or the largest sample does not fit the image."""
    for value in (int(lowest), int(highest)):
        if not image.lowest <= value <= image.highest:
            kind = "signed" if image.signed else "unsigned"
            raise BadParams(
                f"sample {value} does not fit bit_depth {image.bit_depth} ({kind}: "
                f"{image.lowest}..{image.highest}); give a bit_depth that holds the data"
            )
