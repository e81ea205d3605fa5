"""Coding of one chunk: division into blocks for the backend, and framing, without Zarr."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array, Dtype
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.checksum import Bytes
from gangsaw.codecs.core.container.frame import FrameLayout
from gangsaw.codecs.core.container.grid import Division
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.container.runs import NOWHERE, Origin, Runs
from gangsaw.codecs.core.container.views import BlockViews
from gangsaw.codecs.core.cuda.device import backend, backend_name
from gangsaw.codecs.core.errors import BadParams, ChunkError, CorruptChunk
from gangsaw.codecs.core.record import Stopwatch

Range: TypeAlias = tuple[int, int]  # first byte, byte after the last one
Reader: TypeAlias = Generator[list[Range | None], list[Bytes | None], Runs | None]


@dataclass(frozen=True)
class ChunkCoder:
    """Encoder and decoder of chunks of one shape and dtype with one set of parameters.

    An encoded chunk is a frame, see SPEC.md.

    Attributes
    ----------
    name : the codec's Zarr name, for the recorder
    package : dotted name of the package with the codec's backends, modules `cpu` and `gpu`
    params : the codec's frozen parameters
    dtype : dtype of chunks
    plan, layout : division into blocks, and layout of the frame, that chunk shape, dtype and
        parameters imply
    """

    name: str
    package: str
    params: object
    dtype: Dtype
    plan: ChunkPlan
    layout: FrameLayout

    @property
    def grid(self) -> Division:
        """Division of chunks into blocks."""
        return self.plan.grid

    def views(self, chunk: Array, numbers: npt.NDArray[np.int64] | None = None) -> BlockViews:
        """Return all blocks of a chunk, or those with the given numbers, as views for backends."""
        return BlockViews(chunk, self.plan.grid, self.plan.view, numbers)

    def encode(self, chunk: Array) -> memoryview:
        """Return the frame of a chunk of the grid's shape, in any memory and byte order.

        Raises
        ------
        BadParams : the chunk has another shape or dtype, or values that the parameters do not allow
        """
        return self.encode_all([chunk])[0]

    def encode_all(self, chunks: Sequence[Array]) -> list[memoryview]:
        """Return the frames of chunks in one kind of memory, encoded in one call of the backend."""
        self._check(chunks)
        if not chunks:
            return []
        watch = Stopwatch(self.name, "encode", backend_name(chunks[0]))
        frames = self._frames(chunks)
        watch.report([(c.nbytes, len(f)) for c, f in zip(chunks, frames, strict=True)])
        return frames

    def encode_part(self, part: Array) -> memoryview:
        """Return the frame of a part of another codec's chunk, without a report to the recorder."""
        self._check([part])
        return self._frames([part])[0]

    def _frames(self, chunks: Sequence[Array]) -> list[memoryview]:
        sources = _joined_views([self.views(chunk) for chunk in chunks])
        if not len(sources):
            return [frame.pack(Runs(()), self.layout) for _ in chunks]
        output = Output(len(sources), self.layout.index_size, self.layout.n_lanes)
        backend(chunks[0], self.package).BACKEND.encode(sources, self.params, output)
        return frame.frames_of(output, self.layout)

    def decode(self, data: Bytes, out: Array) -> None:
        """Decode a whole frame into `out`, of the grid's shape and any memory and byte order.

        Raises
        ------
        BadParams : `out` has another shape or dtype, or is read-only
        CorruptChunk : names the corrupt block if it is known
        NewerFormat : the frame is of a later version
        """
        self.fill([self.whole(data)], [out])

    def whole(self, data: Bytes, origin: Origin = NOWHERE) -> Runs:
        """Verify the index of a complete frame; return the payloads of all its blocks.

        `origin` names store and chunk in errors.

        Raises
        ------
        CorruptChunk, NewerFormat : as `decode` does
        """
        try:
            return replace(frame.unpack(data, self.layout), origin=origin)
        except ChunkError as error:
            raise error.at(**origin._asdict()) from error

    def read(self, selection: object, origin: Origin = NOWHERE) -> Reader:
        """Fetch only the blocks that `chunk[selection]` reads.

        This is a generator, so that blocking and asynchronous callers share the code. It yields
        byte ranges (None is the whole chunk), receives their bytes, and returns the blocks for
        `fill`, or None if there is no chunk.

        Parameters
        ----------
        selection : any NumPy index
        origin : names store and chunk in errors
        """
        touched = self.grid.touched(selection)
        part = self._part(touched, selection)
        if len(touched) == self.grid.n_blocks and part is None:
            (data,) = yield [None]
            return None if data is None else self.whole(data, origin)
        (prefix,) = yield [(0, self.layout.index_size)]
        if prefix is None:
            return None
        try:
            index = frame.parse_index(prefix, self.layout)
            if part is not None and self.plan.lanes_for is not None:
                assert index.lane_bits is not None
                block = int(touched[0])
                lanes = self.plan.lanes_for(index.lane_bits[block], part.start, part.stop)
                wanted = frame.lane_ranges(index, block, lanes)
                parts = (yield list(wanted)) if wanted else []
                runs = frame.take_lanes(index, block, lanes, _joined(parts))
                return replace(runs, origin=origin)
            ranges = coalesce(index.offsets, touched)
            parts = (yield list(ranges)) if ranges else []
            return replace(frame.take(index, touched, _joined(parts)), origin=origin)
        except ChunkError as error:
            raise error.at(**origin._asdict()) from error

    def _part(self, touched: npt.NDArray[np.int64], selection: object) -> range | None:
        """Return the range of items to read if it is less than half of the only block touched."""
        if self.plan.lanes_for is None or not self.layout.sums_lanes or len(touched) != 1:
            return None
        (place,) = self.grid.slices(int(touched[0]))
        part = self.grid.bounds(selection)
        size = place.stop - place.start
        return part_of(part, place.start) if 2 * len(part) < size else None

    def fill(self, fetched: Sequence[Runs], outs: Sequence[Array]) -> None:
        """Decode blocks of several chunks in one call, each into its chunk's array.

        Parameters
        ----------
        fetched : blocks of each chunk
        outs : arrays of the grid's shape, in one kind of memory; only the fetched blocks are
            written

        Raises
        ------
        BadParams : an array has another shape or dtype, or is read-only
        CorruptChunk : names store, chunk and block
        """
        self._check(outs)
        for out in outs:  # CuPy arrays are never read-only
            if isinstance(out, np.ndarray) and not out.flags.writeable:
                raise BadParams("the array to decode into is read-only")
        pairs = zip(fetched, outs, strict=True)
        views = [self.views(out, runs.numbers) for runs, out in pairs]
        if not any(map(len, views)):
            return
        watch = Stopwatch(self.name, "decode", backend_name(outs[0]))
        try:
            self._fill(Runs.joined(fetched), views)
        except CorruptChunk as error:  # its number counts the blocks of this call
            raise _located(error, fetched) from error
        encoded = [runs.n_bytes for runs in fetched]
        watch.report([(own.nbytes, n) for own, n in zip(views, encoded, strict=True)])

    def decode_part(self, data: Bytes, out: Array) -> None:
        """Decode a whole frame into a part of another codec's chunk; see `encode_part`.

        Raises
        ------
        CorruptChunk, NewerFormat : as `decode` does
        """
        self._check([out])
        self._fill(self.whole(data), [self.views(out)])

    def _fill(self, runs: Runs, views: Sequence[BlockViews]) -> None:
        """Decode `runs` into the blocks of all `views`; errors have the index among those."""
        targets = _joined_views(views)
        if not len(targets):
            return
        chunk = views[0].chunk
        # on the CPU each thread verifies the blocks that it decodes
        if backend_name(chunk) == "gpu":
            runs = runs.verified()
        backend(chunk, self.package).BACKEND.decode(runs, targets, self.params)
        for own in views:
            own.write_back()

    def _check(self, chunks: Sequence[Array]) -> None:
        for chunk in chunks:  # kernels compute the addresses of blocks from the grid
            if chunk.shape != self.grid.chunk_shape:
                raise BadParams(f"chunk of shape {chunk.shape}, expected {self.grid.chunk_shape}")
            if chunk.dtype != self.dtype and chunk.dtype.newbyteorder() != self.dtype:
                raise BadParams(f"chunk of {chunk.dtype}, expected {self.dtype}")


def _joined_views(chunks: Sequence[BlockViews]) -> Sequence[Array]:
    return chunks[0] if len(chunks) == 1 else [view for chunk in chunks for view in chunk]


def part_of(part: range, start: int) -> range:
    """Convert a range of items of a chunk to offsets in the block that begins at item `start`."""
    return range(part.start - start, part.stop - start)


def coalesce(offsets: npt.NDArray[np.int64], numbers: npt.NDArray[np.int64]) -> list[Range]:
    """Return the byte ranges of the given blocks, ascending, with adjacent ranges merged."""
    runs = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1) if len(numbers) else []
    return [(int(offsets[run[0]]), int(offsets[run[-1] + 1])) for run in runs]


def _located(error: CorruptChunk, fetched: Sequence[Runs]) -> CorruptChunk:
    """Return the error with the chunk and number of its block, from its index in all blocks."""
    block = error.block
    for runs in fetched:
        if block is not None and block < len(runs):
            where = runs.origin._asdict()
            return CorruptChunk(error.reason, block=runs.number(block)).at(**where)
        block = None if block is None else block - len(runs)
    return error


def _joined(parts: Sequence[Bytes | None]) -> Bytes:
    if any(part is None for part in parts):
        raise CorruptChunk("the chunk vanished while it was read")
    if len(parts) == 1 and parts[0] is not None:
        return parts[0]
    return b"".join(bytes(part) for part in parts if part is not None)
