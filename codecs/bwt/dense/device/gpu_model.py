"""Adaptive model of a dense block on a GPU; see lane_states.cuh."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.bwt.dense.model import FAST_PAIR, PAIR, SHARED, SLOW_PAIR
from gangsaw.codecs.bwt.dense.tables import NODES
from gangsaw.codecs.core.cuda.device import cupy


class FreshModel:
    """Initial counts and histories of a dense block, in device memory."""

    def __init__(self, n_lanes: int, symbols: int) -> None:
        cp, rows = cupy(), n_lanes * symbols
        self._symbols = symbols
        self._arrays = (
            cp.full(SHARED, PAIR, np.uint32),
            cp.full(rows * NODES, FAST_PAIR | SLOW_PAIR, np.uint32),
            cp.zeros(rows, np.uint8),
        )

    def row(self) -> list[int]:
        """Return struct `Model` of lane_states.cuh as integers."""
        return [self._symbols, *(array.data.ptr for array in self._arrays)]
