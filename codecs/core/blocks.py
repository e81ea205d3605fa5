"""Encoded blocks in memory: what a backend produces and what the frame stores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Blocks:
    """Encoded blocks, back to back.

    Attributes
    ----------
    payload : (sum(lengths),) uint8, the blocks in order, each byte aligned
    lengths : (n_blocks,) int64, bytes of each block
    lane_bits : (n_blocks, n_lanes) int64, bits of each lane, or None for a codec without lanes
    """

    payload: npt.NDArray[np.uint8]
    lengths: npt.NDArray[np.int64]
    lane_bits: npt.NDArray[np.int64] | None = None

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """(n_blocks + 1,) int64: byte offsets of the blocks in the payload."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(self.lengths)])

    def __sizeof__(self) -> int:
        """Return the true size in bytes: Dask plans memory by it."""
        lanes = 0 if self.lane_bits is None else self.lane_bits.nbytes
        return 64 + self.payload.nbytes + self.lengths.nbytes + lanes
