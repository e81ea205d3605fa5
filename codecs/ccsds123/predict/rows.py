"""Buffer of an encoder's samples: rows of pixels with the bands of each pixel adjacent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.ccsds123.params import Image
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.tiles import Tile, copy_items
from gangsaw.codecs.core.numba.vectors.integers import load, static, store, value_of

HALO = 16  # lanes before the first band: P <= 15, and one more for narrow sums
BATCH_BYTES = 1 << 20  # samples of a batch of rows: they fit a usual second-level cache


class RowLayout(NamedTuple):
    """Layout of samples in a flat array of image rows, with the bands of a pixel adjacent.

    Attributes
    ----------
    width : elements of one pixel: its bands, and a halo of the bands before them
    pitch : elements from row to row; a row has one pixel in front of its first (W and NW of x = 0)
    columns : NX
    """

    width: int
    pitch: int
    columns: int


@jit
def _load_rows(
    x: NumpyArray,
    span: tuple[int, int, int],
    samples: NumpyArray,
    layout: RowLayout,
    lane: int,
    extremes: NumpyArray,
    tile: tuple[tuple[None, ...], tuple[None, ...]],
) -> None:
    """Copy image rows of x (z, y, x) to rows 1, 2, ... of `samples`, from lane `lane` on.

    span : first row, number of rows, first band; tile : as for `copy_items`

    The last tile of an axis overlaps the one before it. extremes (2, lanes of a tile) has the
    smallest and the largest sample so far in each lane.
    """
    y, rows, first_band = span
    lanes = value_of(tile[0])
    columns = value_of(tile[1])  # a transposed tile is square, a tile along z has one column
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
    """Return the number of bands in a group, so that a batch contains at least a few image rows.

    lanes : bands in a vector
    """
    most = max(1, BATCH_BYTES // 4 // ((image.n_columns + 1) * itemsize * lanes))
    return lanes * min(-(-image.n_bands // lanes), most)


class BandRows:
    """Samples of a group of bands, a batch of rows at a time, with the bands of a pixel adjacent.

    Attributes
    ----------
    layout : layout of samples in the buffer
    buffer : flat, of the lane type; row 0 is the one before the batch
    """

    def __init__(
        self,
        x: NumpyArray,
        image: Image,
        bands: int,
        dtype: np.dtype[Any],
        first_band: int,
        lanes: int,
    ) -> None:
        self.x, self.image = x.view(), image
        self.x.flags.writeable = False  # Numba compiles another kernel for writable arrays
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
        """Load each batch into the buffer, then yield (first row, number of rows)."""
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


def _tile(x: NumpyArray, bands: int) -> Tile:
    """Return the extents of the tiles that `_load_rows` copies: square if x is fastest in memory.

    bands : number of bands to copy
    """
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
