"""What lanes know of the runs before: which counts the next decisions take. SPEC.md, "Dense"."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.model import RANK_STATES
from gangsaw.codecs.bwt.dense.tables import (
    CLASSES,
    HISTORIES,
    LENGTH_NODES,
    NODES,
    RANK_CLASSES,
    RANK_NODES,
)
from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit_norefs_inline

Words = npt.NDArray[np.uint32]


class Lane(NamedTuple):
    """Where each lane stands: (LANES,) each, of uint32 what all lanes take at once."""

    place: Words
    state: Words
    symbol: Words
    value: Words
    label: npt.NDArray[np.int64]
    rank: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    width: npt.NDArray[np.int64]
    at: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    histories: npt.NDArray[np.uint8]


@jit_norefs_inline
def width_of(value: Any) -> int:
    return 63 - np.int64(leading_zeros(np.uint64(value)))


@jit_norefs_inline
def begin_rank(lane: Any, k: int, rows: int, label: int, start: Any, value: Any) -> None:
    history = np.int64(lane.histories[k * rows + label]) >> 4
    state = (np.int64(CLASSES[lane.ranks[k]]) * 8 + history) * 4 + min(lane.width[k], 3)
    lane.state[k] = state * RANK_NODES
    lane.symbol[k] = label * NODES
    lane.label[k] = label
    lane.place[k] = start
    lane.value[k] = value


@jit_norefs_inline
def begin_length(lane: Any, k: int, rows: int, label: int, rank: int, start: Any, value: Any) -> None:
    history = min(np.int64(lane.histories[k * rows + label]) & 15, 7)
    state = (np.int64(CLASSES[lane.lengths[k]]) * 8 + history) * 6 + np.int64(RANK_CLASSES[rank])
    lane.state[k] = RANK_STATES * RANK_NODES + state * LENGTH_NODES - RANK_NODES
    lane.symbol[k] = label * NODES
    lane.label[k] = label
    lane.rank[k] = rank
    lane.place[k] = start
    lane.value[k] = value


@jit_norefs_inline
def end_run(lane: Any, k: int, rows: int, length: int) -> None:
    rank, width = lane.rank[k], width_of(length)
    at = k * rows + lane.label[k]
    history = np.int64(lane.histories[at]) & 15
    lane.histories[at] = width_of(rank) << 4 | np.int64(HISTORIES[history << 5 | width])
    lane.ranks[k] += ((min(rank, 12) - 1) * 100 - lane.ranks[k]) >> 2
    lane.lengths[k] += (min(width, 7) * 256 - lane.lengths[k]) >> 2
    lane.width[k] = width
