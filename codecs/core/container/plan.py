"""Plan of a chunk: blocks and lanes that shape, dtype and parameters imply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array
from gangsaw.codecs.core.container.frame import FrameLayout
from gangsaw.codecs.core.container.grid import Division
from gangsaw.codecs.core.memory.threads import thread_limit

LanesFor: TypeAlias = Callable[[npt.NDArray[np.int64], int, int], npt.NDArray[np.int64]]
View: TypeAlias = Callable[[Array], Array]


def as_it_is(block: Array) -> Array:
    """Return the block unchanged: default of `ChunkPlan.view`."""
    return block


@dataclass(frozen=True)
class ChunkPlan:
    """Division of a chunk into blocks and lanes, as shape, dtype and parameters imply it.

    Attributes
    ----------
    grid : division of the chunk into blocks
    n_lanes : lanes per block (parts that are decoded in parallel), 0 for a codec without lanes
    lane_width : bytes per lane length in the index, 0 without lanes
    view : function from a block of the grid to the view of it that backends take
    lanes_for : function from the bits of a block's lanes and a range of a 1-D block (first item,
        end) to the lanes to decode, ascending; None for a codec whose lanes cannot be read alone
    sums_lanes : True if the index has a checksum for each lane, see `FrameLayout`
    version : codec version to store in the header, if an earlier one can read what these parameters
        write; 0 for the latest
    """

    grid: Division
    n_lanes: int = 0
    lane_width: int = 0
    view: View = as_it_is
    lanes_for: LanesFor | None = None
    sums_lanes: bool = False
    version: int = 0

    def layout(self, codec_id: int, version: int) -> FrameLayout:
        """Return the layout of a chunk's frame for a codec with this id and version."""
        lanes = self.n_lanes, self.lane_width, self.sums_lanes
        return FrameLayout(codec_id, self.version or version, self.grid.n_blocks, *lanes)

    @property
    def busy(self) -> int:
        """Largest number of blocks that are coded in parallel."""
        return min(thread_limit(), self.grid.n_blocks)
