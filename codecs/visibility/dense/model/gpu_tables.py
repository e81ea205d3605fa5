"""Tables of encoder choices for the CUDA kernels of `dense`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.entropy import rans_tables
from gangsaw.codecs.visibility.arrays import Table
from gangsaw.codecs.visibility.dense.model.grid import grid_limits
from gangsaw.codecs.visibility.dense.model.head import N_TABLES, BlockChoice
from gangsaw.codecs.visibility.dense.model.scale import SLOW
from gangsaw.codecs.visibility.dense.model.symbols import N_SYMBOLS
from gangsaw.codecs.visibility.dense.model.values import MANTISSA
from gangsaw.codecs.visibility.lanes.table import LANES, Lanes

STORED_FREQUENCIES = 2  # frequencies whose sizes the means use: the current one and the one before


class ChoiceRow(NamedTuple):
    """Encoder's choices of a block for kernels: `BlockChoice` of block.cuh explains the fields."""

    means: int
    low: int
    least: int
    most: int
    start_of_words: int
    start_of_residuals: int
    has_near_grid: bool
    has_commonest: bool
    commonest: int
    first_lane: int
    first_size: int


def choice_table(
    choices: Sequence[BlockChoice], lanes: Sequence[Lanes], first_sizes: Table, word_bytes: int
) -> Table:
    """Return the encoder's choices for kernels, (n_blocks, 11) int64: a `ChoiceRow` per block.

    first_sizes : offset of each block's sizes in the array of all blocks
    """
    rows = list[ChoiceRow]()
    first_lanes = offsets_of(LANES * one.n_strips for one in lanes)
    for i, choice in enumerate(choices):
        low, least, most = grid_limits(choice.grid, MANTISSA[word_bytes])
        rows.append(
            ChoiceRow(
                means=choice.means,
                low=low,
                least=least,
                most=most,
                start_of_words=choice.starts[0],
                start_of_residuals=choice.starts[1],
                has_near_grid=choice.grid.has_near_grid,
                has_commonest=choice.commonest is not None,
                commonest=int(np.uint64(choice.commonest or 0).astype(np.int64)),
                first_lane=int(first_lanes[i]),
                first_size=int(first_sizes[i]),
            )
        )
    return np.array(rows, np.int64)


def offsets_of(counts: Iterable[int]) -> Table:
    """Return the start offset of each block's items, and the end, (n_blocks + 1,)."""
    return np.cumsum([0, *counts], dtype=np.int64)


def size_count(means: int, lanes: Lanes) -> int:
    """Return the number of sizes of earlier values that a kernel stores for a block."""
    return STORED_FREQUENCIES * lanes.n_times * LANES if means < SLOW else 0


def predictor_table(choices: Sequence[BlockChoice]) -> npt.NDArray[np.uint8]:
    """Return the predictors of all lanes of all strips, block after block."""
    return np.concatenate([choice.predictors for choice in choices])


def first_slots(counts: NumpyArray) -> npt.NDArray[np.uint16]:
    """Return the first rANS slot of each symbol, and the end of the last, from its frequency.

    counts : (n, tables, symbols) frequencies

    An unused table has only symbol 0, as in `rans_tables.build_encoder_table`.
    """
    firsts = np.full((len(counts), N_TABLES, rans_tables.STRIDE), rans_tables.TOTAL, np.uint16)
    ends = np.cumsum(counts, axis=2)
    firsts[:, :, 1:N_SYMBOLS] = ends[:, :, :-1]
    firsts[:, :, 0] = 0
    firsts[:, :, 1:][ends[:, :, -1] == 0] = rans_tables.TOTAL
    return firsts


def piece_table(pieces: Sequence[tuple[int, int]]) -> npt.NDArray[np.int64]:
    """Return (n_blocks, 3) int64, `Pieces` of encode.cu: the pieces of strips to encode.

    pieces : number of pieces, and rows of each, for each block
    """
    firsts = offsets_of(count for count, _ in pieces)[:-1]
    return np.column_stack([firsts, np.array(pieces, np.int64)])
