"""One chunk: its array cut into blocks for the backend, its bytes framed. Knows no Zarr."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core import frame
from gangsaw.codecs.core.blocks import Blocks
from gangsaw.codecs.core.device import backend, backend_name
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.codecs.core.frame import Bytes, Layout
from gangsaw.codecs.core.grid import BlockGrid
from gangsaw.codecs.core.record import Stopwatch

Array: TypeAlias = Any  # a NumPy or CuPy array
Range: TypeAlias = tuple[int, int]  # first byte, byte after the last
Reader: TypeAlias = Generator[list[Range | None], list[Bytes | None], Array | None]


@dataclass(frozen=True)
class ChunkCoder:
    """Encodes and decodes chunks of one shape and dtype with one set of parameters.

    Attributes
    ----------
    name : the codec's Zarr name, for the recorder
    package : where its backends `cpu` and `gpu` are
    params : the codec's frozen parameters
    grid, layout : blocks and frame that chunk shape, dtype and parameters imply
    view : from a block as the chunk holds it to the view of it that backends take
    """

    name: str
    package: str
    params: Any
    grid: BlockGrid
    layout: Layout
    view: Callable[[Array], Array]

    def encode(self, chunk: Array) -> memoryview:
        """Return the frame of a chunk of the grid's shape, in any memory and byte order.

        Raises
        ------
        BadParams : the chunk has another shape, or values that the parameters do not allow
        """
        if chunk.shape != self.grid.chunk_shape:
            raise BadParams(f"chunk of shape {chunk.shape}, expected {self.grid.chunk_shape}")
        watch = Stopwatch(self.name, "encode", backend_name(chunk))
        sources = self._views(chunk, range(self.grid.n_blocks))
        blocks = Blocks(())
        if sources:
            blocks = backend(chunk, self.package).encode(sources, self.params)
        data = frame.pack(blocks, self.layout)
        watch.report(chunk.nbytes, len(data))
        return data

    def decode(self, data: Bytes, out: Array) -> None:
        """Fill `out`, of the grid's shape and any memory and byte order, from a whole frame.

        Raises
        ------
        CorruptChunk : names the block where one is to blame
        NewerFormat : the frame is of a later version
        """
        blocks = frame.unpack(data, self.layout)
        self._decode(blocks, np.arange(self.grid.n_blocks), out)

    def read(self, selection: Any, allocate: Callable[[], Array]) -> Reader:
        """Decode only the blocks that `chunk[selection]` touches.

        A generator, so that one logic serves whoever fetches, blocking or not: it yields byte
        ranges (None is the whole chunk), takes their bytes, and returns `chunk[selection]`,
        or None where there is no chunk.

        Parameters
        ----------
        selection : what NumPy indexes with
        allocate : makes an uninitialised array of the chunk's shape and dtype
        """
        touched = self.grid.touched(selection)
        if len(touched) == self.grid.n_blocks:
            (data,) = yield [None]
            if data is None:
                return None
            out = allocate()
            self.decode(data, out)
            return out[selection]
        (prefix,) = yield [(0, self.layout.index_size)]
        if prefix is None:
            return None
        index = frame.parse_index(prefix, self.layout)
        ranges = coalesce(index.offsets, touched)
        parts = (yield list(ranges)) if ranges else []
        blocks = frame.take(index, touched, _joined(parts))
        out = allocate()  # untouched pages of it are never committed
        self._decode(blocks, touched, out)
        return out[selection]

    def _decode(self, blocks: Blocks, numbers: npt.NDArray[np.int64], out: Array) -> None:
        watch = Stopwatch(self.name, "decode", backend_name(out))
        targets = self._views(out, numbers)
        if not targets:
            return
        try:
            backend(out, self.package).decode(blocks, targets, self.params)
        except CorruptChunk as error:  # it counts the blocks that it was given
            block = None if error.block is None else int(numbers[error.block])
            raise CorruptChunk(error.reason, block=block) from error
        watch.report(sum(target.nbytes for target in targets), int(blocks.lengths.sum()))

    def _views(self, chunk: Array, numbers: Sequence[int] | npt.NDArray[np.int64]) -> list[Array]:
        return [self.view(chunk[self.grid.slices(int(i))]) for i in numbers]


def coalesce(offsets: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> list[Range]:
    """Return the byte ranges of the given blocks, ascending; neighbours share one."""
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1) if len(numbers) else []
    return [(int(offsets[run[0]]), int(offsets[run[-1] + 1])) for run in runs]


def _joined(parts: Sequence[Bytes | None]) -> Bytes:
    if any(part is None for part in parts):
        raise CorruptChunk("it vanished while it was read")
    if len(parts) == 1 and parts[0] is not None:
        return parts[0]
    return b"".join(bytes(part) for part in parts if part is not None)
