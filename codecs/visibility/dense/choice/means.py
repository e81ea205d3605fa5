"""Choice of the means of a `dense` block: the kind under which a sample takes the fewest bits."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import UInt32s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.visibility.dense.block import DenseBlock, StripScratch
from gangsaw.codecs.visibility.dense.coding.encode import Strips, try_means
from gangsaw.codecs.visibility.dense.coding.stream import Symbols
from gangsaw.codecs.visibility.dense.model.scale import LEVEL, NEAR, SLOW, SLOWER, WIDE
from gangsaw.codecs.visibility.lanes.table import Lanes

# Sampled rows in total, and consecutive rows per piece. A single piece would hide that levels
# differ between parts of the block.
SAMPLED, PIECE = 512, 128


@lru_cache(maxsize=64)  # blocks of a chunk have the same lanes
def sampled_pieces(lanes: Lanes) -> tuple[npt.NDArray[np.int64], int]:
    """Return start row and length of the pieces of strips that are sampled to choose means.

    Rows count over all strips.

    The array is cached: callers must not write to it.
    """
    rows = min(lanes.n_rows, PIECE)
    n = max(1, min(lanes.n_strips * lanes.n_rows // rows, SAMPLED // rows))
    places = np.linspace(0, lanes.n_strips * lanes.n_rows - rows, n, dtype=np.int64)
    inside = np.minimum(places % lanes.n_rows, lanes.n_rows - rows)
    places += inside // lanes.n_times * lanes.n_times - places % lanes.n_rows
    return places, rows


@jit(norefs=True)
def entropy_bits(counts: UInt32s) -> float:
    """Return the bits of entropy-coded symbols with their tables, from counts (tables, symbols)."""
    bits = 0.0
    for t in range(len(counts)):
        total = counts[t].sum()
        for s in range(counts.shape[1]):
            n = counts[t, s]
            if n:
                bits += n * np.log2(total / n) + 13
    return bits


@jit(norefs=True)
def best_means(
    strips: Strips, block: DenseBlock, scratch: StripScratch, row_of: Symbols, counts: UInt32s
) -> int:
    """Return the kind of mean (model/scale.py) by which a sample takes the fewest bits.

    Parameters
    ----------
    strips, scratch, row_of : arguments of `try_means`; its counts are overwritten
    block : parameters with the rows of a sampled piece; `means` is ignored
    counts : (tables, symbols), the same memory as `row_of.counts`
    """
    best, least = NEAR, np.inf
    for means in (NEAR, WIDE, SLOW, SLOWER, LEVEL):
        row_of.counts[:] = 0
        n_bits = try_means(strips, _with_means(block, means), scratch, row_of)
        cost = entropy_bits(counts) + n_bits
        if cost < least:
            best, least = means, cost
    return best


@jit(part=True, norefs=True)
def _with_means(block: DenseBlock, means: int) -> DenseBlock:
    return DenseBlock(
        block.n_rows, block.n_times, block.n_series, block.width, block.mantissa, means,
        block.n_symbols, block.has_commonest, block.commonest, block.signs,
        block.of_type,
    )  # fmt: skip
