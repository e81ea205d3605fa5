"""Lengths of a table, and scratch memory of the kernels of tiles: arguments that they share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64s, NumpyArray


class Extents(NamedTuple):
    """Lengths of the table of a block's words, which has 32 lanes (columns) in strips of rows.

    Attributes
    ----------
    n_times : rows of a series, or of a segment of one
    n_strip_rows, n_rows : rows of a strip, and of the table without padding of its last tile
    n_series : lanes with words
    """

    n_times: int
    n_strip_rows: int
    n_rows: int
    n_series: int


class TileScratch(NamedTuple):
    """Scratch memory for one vector of lanes of a tile; W is a word, but at least 32 bits.

    Attributes
    ----------
    rows, columns : (32 * lanes,) W, and the same memory as uint32: values to store as planes
    residuals : (32 * lanes,) W, prediction residuals
    counts, column_counts : (lanes,) W, and the same memory as int32: planes of each column
    neighbours : (3 * 32,) int64, offsets of the words that predict each row
    totals : W, sums of group widths for each mode, then widths of each lane of a tile
    lanes : lanes of a vector, `static`
    """

    rows: NumpyArray
    columns: npt.NDArray[np.uint32]
    residuals: NumpyArray
    counts: NumpyArray
    column_counts: npt.NDArray[np.int32]
    neighbours: npt.NDArray[np.int64]
    totals: NumpyArray
    lanes: tuple[None, ...]


class CallMemory(NamedTuple):
    """Scratch memory of one call.

    Attributes
    ----------
    table : words, flat, with padding rows of the last tile, and one row of zeros
    scratch : scratch memory of a tile
    tail : (TAIL_BYTES,) uint8, copy of a payload's end with readable bytes after it
    ends : (n_tiles,) int64, end offsets of the planes of each tile
    """

    table: NumpyArray
    scratch: TileScratch
    tail: Bytes
    ends: Int64s
