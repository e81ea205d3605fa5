"""Salvage of chunks with damaged blocks: the list of these blocks and the samples of all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from zarr.core.metadata import ArrayV3Metadata

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.tasks.sources.library_errors import convert_library_errors
from gangsaw.tasks.sources.source import Region
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.arrays.grids import regular_chunks
from gangsaw.tasks.store.objects.prefix import Prefix, retry_read
from gangsaw.tasks.store.readable_ranges import find_readable_ranges

if TYPE_CHECKING:
    from zarr.types import AnyArray


Ranges: TypeAlias = tuple[tuple[int, int], ...]  # first sample and end along each axis

PIECE = 1 << 12  # items of the smallest part of a block that is reported as damaged
PARTS = 5  # parts of a block in the first step of the bisection


@dataclass(frozen=True)
class DamagedBlock:
    """Samples that cannot be read: a block, a part of it, or a whole chunk.

    Attributes
    ----------
    array : name of the array
    chunk : key of the chunk; "" is the array as a whole
    block : number of the block in its chunk, some parts of which may be intact; None if the error
        is not in a block, such as a missing chunk
    ranges : first sample and end (exclusive) along each axis
    reason : error in the bytes
    """

    array: str
    chunk: str
    block: int | None
    ranges: Ranges
    reason: str

    def __str__(self) -> str:
        """Return a line for messages, with array, chunk, block, samples and reason."""
        block = "" if self.block is None else f", block {self.block}"
        where = ", ".join(f"{first}..{end - 1}" for first, end in self.ranges)
        return f"{self.array}, chunk {self.chunk}{block}, samples [{where}]: {self.reason}"

    @property
    def region(self) -> Region:
        """Samples as a region of the array."""
        return tuple(slice(first, end) for first, end in self.ranges)

    @property
    def sort_key(self) -> tuple[object, ...]:
        """Sort key: name of the array, and ranges of the samples."""
        return self.array, self.ranges


@dataclass(frozen=True)
class OpenArray:
    """Zarr array whose chunks may be damaged, with methods that find or fill the damaged blocks.

    Attributes
    ----------
    name : name of the array in messages
    array : zarr array, which raises for missing chunks that a job wrote
    place : store prefix of the array
    """

    name: str
    array: AnyArray
    place: Prefix

    @property
    def grid(self) -> ChunkGrid:
        """Grid of the chunks; an array with chunks of several sizes counts as one chunk."""
        shape = self.array.shape
        return ChunkGrid(shape, regular_chunks(self.array) or tuple(max(1, n) for n in shape))

    def damage(self, number: int) -> list[DamagedBlock]:
        """Return the damaged blocks of a chunk by its number, [] if it is intact."""
        try:
            self._whole(self.grid.region(number))
        except CorruptChunk as error:
            return self._salvaged(number, error, 0)[1]
        return []

    def read_filled(self, region: Region, fill: object) -> NumpyArray:
        """Return the samples of a region; samples of damaged blocks are `fill`."""
        out = np.empty([s.stop - s.start for s in region], self.array.dtype)
        grid = self.grid
        for position in grid.overlapping(region):
            number = int(np.ravel_multi_index(position, grid.counts)) if position else 0
            own = grid.region(number)
            try:
                samples = self._whole(own)
            except CorruptChunk as error:
                samples = self._salvaged(number, error, fill)[0]
            taken = [
                slice(max(a.start, b.start), min(a.stop, b.stop))
                for a, b in zip(own, region, strict=True)
            ]
            inner = tuple(_shift(t, o.start) for t, o in zip(taken, own, strict=True))
            outer = tuple(_shift(t, r.start) for t, r in zip(taken, region, strict=True))
            out[outer] = samples[inner]
        return out

    def _whole(self, region: Region) -> NumpyArray:
        with convert_library_errors(str(self.place), self.name):
            return retry_read(self.place, lambda: np.asarray(self.array[region], self.array.dtype))

    def _salvaged(
        self, number: int, error: CorruptChunk, fill: object
    ) -> tuple[NumpyArray, list[DamagedBlock]]:
        """Return the samples of a damaged chunk, filled where lost, and its damaged blocks."""
        region = self.grid.region(number)
        key, shape = self._key(number), tuple(s.stop - s.start for s in region)
        coder = _coder_of(self.array, self.grid)
        stored = None if coder is None else self.place.get(key)
        try:
            if coder is None or stored is None:
                raise error
            frame = _DamagedFrame(coder, stored.as_numpy_array(), self.array.dtype, fill)
            samples, bad = frame.salvage()
        except CorruptChunk:  # without an index, the blocks cannot be located
            lost = DamagedBlock(self.name, key, error.block, _ranges(region), error.reason)
            return np.full(shape, fill, self.array.dtype), [lost]
        blocks = [
            DamagedBlock(self.name, key, one.block, ranges, one.reason)
            for one in bad
            if (ranges := _ranges_in(one.ranges, region))
        ]
        return samples[tuple(map(slice, shape))], blocks

    def _key(self, number: int) -> str:
        if (extents := self.array.shards or regular_chunks(self.array)) is None:
            return ""
        starts = [span.start for span in self.grid.region(number)]
        position = tuple(start // n for start, n in zip(starts, extents, strict=True))
        return self.array.metadata.encode_chunk_key(position)


def _coder_of(array: AnyArray, grid: ChunkGrid) -> ChunkCoder | None:
    """Return the coder of an array if each chunk is one frame of blocks; else None."""
    found = array.metadata
    if not isinstance(found, ArrayV3Metadata) or array.shards is not None:
        return None
    if len(found.codecs) != 1 or not isinstance(codec := found.codecs[0], BlockCodec):
        return None
    coder = codec.coder(grid.chunks, array.dtype)
    return coder if coder.grid.n_blocks else None


class _LostSamples(NamedTuple):
    """Samples of a block that cannot be decoded.

    Attributes
    ----------
    block : number of the block in its chunk
    ranges : first sample and end (exclusive) along each axis of the chunk
    reason : error in the bytes
    """

    block: int
    ranges: Ranges
    reason: str


@dataclass(frozen=True)
class _DamagedFrame:
    """Frame (encoded chunk) with damaged blocks, and the fill value for lost samples."""

    coder: ChunkCoder
    data: npt.NDArray[np.uint8]
    dtype: Dtype
    fill: object

    def salvage(self) -> tuple[NumpyArray, list[_LostSamples]]:
        """Return the samples of the chunk, filled where lost, and the ranges of the lost ones.

        Raises CorruptChunk if the index is damaged or the error is in no block.
        """
        runs = self.coder.whole(self.data)
        out, bad = self._decode_without(runs, dict(_wrong_sums(runs)))
        lost = []
        for block, reason in bad.items():
            places = self._ranges_of(block)
            found = self._decode_parts(places[0], out) if self._has_parts else [places]
            lost += [_LostSamples(block, ranges, reason) for ranges in found]
        return out, lost

    def _decode_without(self, runs: Runs, bad: dict[int, str]) -> tuple[NumpyArray, dict[int, str]]:
        """Decode all blocks except the bad ones; return the samples, and errors by block number.

        A block that fails to decode is added to the bad ones, and decoding starts again.
        """
        while True:
            out = np.full(self.coder.grid.chunk_shape, self.fill, self.dtype)
            good = [block for block in range(len(runs)) if block not in bad]
            try:
                if good:
                    self.coder.fill([_select_blocks(runs, good)], [out])
            except CorruptChunk as error:  # the checksum is right, but the encoding is wrong
                if error.block is None or error.block in bad:
                    raise
                bad = {**bad, error.block: error.reason}
            else:
                if not bad:
                    raise CorruptChunk("its blocks can be read now, and could not before")
                return out, bad

    def _ranges_of(self, block: int) -> Ranges:
        """Return the range of a block along each axis of the chunk.

        A block of bytes that ends within a row counts as the whole row.
        """
        grid = self.coder.grid
        spans = grid.slices(block)
        if grid.is_tiled:
            return tuple((span.start, span.stop) for span in spans)
        rest = grid.chunk_shape[1:]
        row_bytes, (span,) = self.dtype.itemsize * prod(rest), spans
        return (span.start // row_bytes, -(-span.stop // row_bytes)), *((0, n) for n in rest)

    @property
    def _has_parts(self) -> bool:
        """True if parts of a block (lanes) have checksums of their own, along a single axis."""
        has_sums = self.coder.plan.lanes_for is not None and self.coder.layout.sums_lanes
        return has_sums and len(self.coder.grid.chunk_shape) == 1

    def _decode_parts(self, place: tuple[int, int], out: NumpyArray) -> list[Ranges]:
        """Decode the intact parts of a block into `out`; return the ranges of the damaged ones.

        Parameters
        ----------
        place : first item of the block and end (exclusive) in a chunk with one axis
        out : samples of the chunk
        """
        first, end = place

        def read(begin: int, stop: int) -> None:
            out[begin:stop] = self._decode_range(begin, stop)

        n_pieces = max(1, (end - first) // (PARTS * PIECE))  # below half a block
        kept = find_readable_ranges(first, end, PIECE, read, n_pieces)
        edges = [first, *(edge for one in kept for edge in one), end]
        return [((a, b),) for a, b in list(pairwise(edges))[::2] if a < b]

    def _decode_range(self, begin: int, stop: int) -> NumpyArray:
        """Return the items `begin` to `stop` - 1 of a chunk with one axis, decoding only these."""
        reader = self.coder.read(slice(begin, stop))
        wanted = next(reader)
        while True:
            try:
                wanted = reader.send([self.data[slice(*(one or (None,)))] for one in wanted])
            except StopIteration as last:
                found: Runs = last.value
                break
        chunk = np.empty(self.coder.grid.chunk_shape, self.dtype)  # untouched pages use no memory
        self.coder.fill([found], [chunk])
        return chunk[begin:stop]


def _wrong_sums(runs: Runs) -> Iterator[tuple[int, str]]:
    for block in range(len(runs)):
        try:
            runs.take(block)
        except CorruptChunk as error:
            yield block, error.reason


def _select_blocks(runs: Runs, blocks: Sequence[int]) -> Runs:
    """Select the encoded payloads and checksums of some blocks of a chunk by block number."""
    which = np.array(blocks, np.int64)
    return replace(
        runs,
        payloads=tuple(runs.payloads[block] for block in blocks),
        lane_bits=None if runs.lane_bits is None else runs.lane_bits[which],
        checksums=None if runs.checksums is None else runs.checksums[which],
        numbers=which,
    )


def _ranges_in(ranges: Ranges, region: Region) -> Ranges:
    """Convert ranges in a chunk to ranges in the array, cut at its edge; () if all is padding."""
    pairs = zip(ranges, region, strict=True)
    found = tuple((of.start + a, min(of.start + b, of.stop)) for (a, b), of in pairs)
    return found if all(first < end for first, end in found) else ()


def _ranges(region: Region) -> Ranges:
    return tuple((s.start, s.stop) for s in region)


def _shift(span: slice[int, int, int | None], by: int) -> slice[int, int, None]:
    return slice(span.start - by, span.stop - by)


def n_samples(blocks: Sequence[DamagedBlock]) -> int:
    """Return the number of samples in damaged blocks."""
    return sum(prod(end - first for first, end in one.ranges) for one in blocks)


@dataclass(frozen=True)
class Mending:
    """Policy for reading an array with damaged blocks: raise or fill.

    Attributes
    ----------
    fills : True to fill samples of damaged blocks; otherwise they raise CorruptChunk
    value : value that fills them; None is the fill value of the array
    gaps : ranges of damaged items of an array with one axis, which raise before any read
    """

    fills: bool
    value: float | complex | None = None
    gaps: Ranges = ()

    def check(self, name: str, region: Region) -> None:
        """Raise CorruptChunk for a region with damaged items."""
        if not self.gaps:
            return
        (span,) = region
        if any(first < span.stop and span.start < end for first, end in self.gaps):
            raise CorruptChunk(f"{name} is damaged at {span.start}..{span.stop - 1}")


MendingOf: TypeAlias = "Callable[[str], Mending | None]"


def never(_: str) -> None:
    """Return None for any array name, so that its damaged blocks raise CorruptChunk."""


def choose_fill(array: AnyArray, fill: object, value: complex | None) -> object:
    """Return the fill for lost samples: `value` if the dtype can represent it, else `fill`.

    Parameters
    ----------
    array : array with lost samples
    fill : fill value of the array's variable; None takes 0 for numbers, else zarr's fill value
    value : value that the user requested, or None
    """
    own = 0 if fill is None and array.dtype.kind in "biufc" else fill
    if own is None:
        own = array.fill_value
    return value if value is not None and can_represent(array.dtype, value) else own


def can_represent(dtype: Dtype, value: complex) -> bool:
    """Return True if a dtype can represent a fill value: exactly, or rounded for floats."""
    if dtype.kind not in "biufc":
        return False
    if dtype.kind in "fc":
        return dtype.kind == "c" or not isinstance(value, complex)
    if isinstance(value, complex) or value != value or value != int(value):
        return False
    least, most = (0, 1) if dtype.kind == "b" else _limits(dtype)
    return least <= int(value) <= most


def _limits(dtype: Dtype) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer dtype."""
    if dtype.kind == "i":
        half = 1 << (8 * dtype.itemsize - 1)
        return -half, half - 1
    return 0, (1 << 8 * dtype.itemsize) - 1
