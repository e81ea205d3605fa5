"""One chunk: its array cut into blocks for the backend, its bytes framed. Knows no Zarr."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.blocks import Blocks
from gangsaw.codecs.core.container.checksum import Bytes
from gangsaw.codecs.core.container.frame import Layout
from gangsaw.codecs.core.container.grid import BlockGrid
from gangsaw.codecs.core.container.views import Array, Views
from gangsaw.codecs.core.cuda.device import backend, backend_name
from gangsaw.codecs.core.errors import BadParams, ChunkError, CorruptChunk
from gangsaw.codecs.core.record import Stopwatch

Range: TypeAlias = tuple[int, int]  # first byte, byte after the last


class Place(NamedTuple):
    """Names of store and chunk for errors, as far as known."""

    store: str | None = None
    chunk: str | None = None


NOWHERE = Place()


class Fetched(NamedTuple):
    """Blocks of one chunk, still encoded; their bytes are verified as they are decoded.

    Attributes
    ----------
    blocks : the blocks
    numbers : (n,) int64, which blocks of the chunk they are, or None for all
    place : names store and chunk in errors
    """

    blocks: Blocks
    numbers: npt.NDArray[np.int64] | None
    place: Place = NOWHERE

    def number(self, which: int) -> int:
        """Return which block of the chunk one of the blocks is."""
        return which if self.numbers is None else int(self.numbers[which])


Reader: TypeAlias = Generator[list[Range | None], list[Bytes | None], Fetched | None]


@dataclass(frozen=True)
class ChunkCoder:
    """Encodes and decodes chunks of one shape and dtype with one set of parameters.

    Attributes
    ----------
    name : the codec's Zarr name, for the recorder
    package : where its backends `cpu` and `gpu` are
    params : the codec's frozen parameters
    dtype : of chunks
    grid, layout : blocks and frame that chunk shape, dtype and parameters imply
    view : from a block as the chunk holds it to the view of it that backends take
    """

    name: str
    package: str
    params: Any
    dtype: np.dtype[Any]
    grid: BlockGrid
    layout: Layout
    view: Callable[[Array], Array]

    def encode(self, chunk: Array) -> memoryview:
        """Return the frame of a chunk of the grid's shape, in any memory and byte order.

        Raises
        ------
        BadParams : the chunk has another shape or dtype, or values that the parameters do not allow
        """
        return self.encode_all([chunk])[0]

    def encode_all(self, chunks: Sequence[Array]) -> list[memoryview]:
        """Return the frames of chunks that lie in one kind of memory, encoded all at once."""
        self._check(chunks)
        if not chunks:
            return []
        watch = Stopwatch(self.name, "encode", backend_name(chunks[0]))
        n = self.grid.n_blocks
        sources = _joined_views([Views(chunk, self.grid, self.view) for chunk in chunks])
        blocks = Blocks(())
        if len(sources):
            blocks = backend(chunks[0], self.package).encode(sources, self.params)
        firsts = (i * n for i in range(len(chunks)))
        frames = frame.pack_all([blocks[first : first + n] for first in firsts], self.layout)
        watch.report([(c.nbytes, len(f)) for c, f in zip(chunks, frames, strict=True)])
        return frames

    def decode(self, data: Bytes, out: Array) -> None:
        """Fill `out`, of the grid's shape and any memory and byte order, from a whole frame.

        Raises
        ------
        BadParams : `out` has another shape or dtype, or is read-only
        CorruptChunk : names the block where one is to blame
        NewerFormat : the frame is of a later version
        """
        self.fill([self.whole(data)], [out])

    def whole(self, data: Bytes, place: Place = NOWHERE) -> Fetched:
        """Return all blocks of a frame whose index is right; `place` is for errors.

        Raises
        ------
        CorruptChunk, NewerFormat : as `decode` does
        """
        try:
            blocks = frame.unpack(data, self.layout)
        except ChunkError as error:
            raise error.at(**place._asdict()) from error
        return Fetched(blocks, None, place)

    def read(self, selection: Any, place: Place = NOWHERE) -> Reader:
        """Fetch only the blocks that `chunk[selection]` touches.

        A generator, so that one logic serves whoever fetches, blocking or not: it yields byte
        ranges (None is the whole chunk), takes their bytes, and returns the blocks for `fill`, or
        None where there is no chunk.

        Parameters
        ----------
        selection : what NumPy indexes with
        place : names store and chunk in errors
        """
        touched = self.grid.touched(selection)
        if len(touched) == self.grid.n_blocks:
            (data,) = yield [None]
            return None if data is None else self.whole(data, place)
        (prefix,) = yield [(0, self.layout.index_size)]
        if prefix is None:
            return None
        try:
            index = frame.parse_index(prefix, self.layout)
            ranges = coalesce(index.offsets, touched)
            parts = (yield list(ranges)) if ranges else []
            return Fetched(frame.take(index, touched, _joined(parts)), touched, place)
        except ChunkError as error:
            raise error.at(**place._asdict()) from error

    def fill(self, fetched: Sequence[Fetched], outs: Sequence[Array]) -> None:
        """Decode blocks of several chunks, all at once, each into its place in its chunk's array.

        Parameters
        ----------
        fetched : blocks of each chunk
        outs : arrays of the grid's shape, in one kind of memory; only those blocks are written

        Raises
        ------
        BadParams : an array has another shape or dtype, or is read-only
        CorruptChunk : names store, chunk and block
        """
        self._check(outs)
        for out in outs:  # CuPy knows none that are
            if isinstance(out, np.ndarray) and not out.flags.writeable:
                raise BadParams("the array to decode into is read-only")
        pairs = zip(fetched, outs, strict=True)
        views = [Views(out, self.grid, self.view, part.numbers) for part, out in pairs]
        targets = _joined_views(views)
        if not len(targets):
            return
        kind = backend_name(outs[0])
        watch = Stopwatch(self.name, "decode", kind)
        blocks = Blocks.joined([part.blocks for part in fetched])
        try:
            if kind == "gpu":  # on the CPU each thread verifies what it decodes
                blocks = blocks.verified()
            backend(outs[0], self.package).decode(blocks, targets, self.params)
        except CorruptChunk as error:  # it counts the blocks that it was given
            raise _located(error, fetched) from error
        encoded = [part.blocks.n_bytes for part in fetched]
        watch.report([(own.nbytes, n) for own, n in zip(views, encoded, strict=True)])

    def _check(self, chunks: Sequence[Array]) -> None:
        for chunk in chunks:  # kernels find its blocks by the grid
            if chunk.shape != self.grid.chunk_shape:
                raise BadParams(f"chunk of shape {chunk.shape}, expected {self.grid.chunk_shape}")
            if chunk.dtype != self.dtype and chunk.dtype.newbyteorder() != self.dtype:
                raise BadParams(f"chunk of {chunk.dtype}, expected {self.dtype}")


def _joined_views(chunks: Sequence[Views]) -> Sequence[Array]:
    return chunks[0] if len(chunks) == 1 else [view for chunk in chunks for view in chunk]


def coalesce(offsets: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> list[Range]:
    """Return the byte ranges of the given blocks, ascending; neighbours share one."""
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1) if len(numbers) else []
    return [(int(offsets[run[0]]), int(offsets[run[-1] + 1])) for run in runs]


def _located(error: CorruptChunk, fetched: Sequence[Fetched]) -> CorruptChunk:
    """Return the error with the place of its block, which it counts over all that was fetched."""
    block = error.block
    for part in fetched:
        if block is not None and block < len(part.blocks.parts):
            where = part.place._asdict()
            return CorruptChunk(error.reason, block=part.number(block)).at(**where)
        block = None if block is None else block - len(part.blocks.parts)
    return error


def _joined(parts: Sequence[Bytes | None]) -> Bytes:
    if any(part is None for part in parts):
        raise CorruptChunk("it vanished while it was read")
    if len(parts) == 1 and parts[0] is not None:
        return parts[0]
    return b"".join(bytes(part) for part in parts if part is not None)
