"""Figures of a store, from its metadata and the index of every chunk: no block is decoded."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec
from zarr.core.buffer import Buffer
from zarr.core.metadata.v3 import ArrayV3Metadata

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.suits import Answers, Picture
from gangsaw.codecs.core.zarr.block_codec import handed_on
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
from gangsaw.tasks.store.chunks import ChunkGrid
from gangsaw.tasks.store.dataset.texts import type_name
from gangsaw.tasks.store.place import Place, open_place, read_again
from gangsaw.tasks.store.source import ZarrSource, open_array, open_zarr
from gangsaw.tasks.store.state.history import PastJob, read_history
from gangsaw.tasks.store.state.manifest import open_manifest

if TYPE_CHECKING:
    from zarr.types import AnyArray

    from gangsaw.codecs.core.zarr.block_codec import BlockCodec

NOT_FIGURES = ("lane_bits", "lane_dim", "block_bits", "summary", "picture")  # of an array
AT_ONCE = 256  # chunks whose indexes are fetched together


@dataclass(frozen=True)
class BitMap:
    """Bits per sample of each block, over one axis of the array or two.

    Attributes
    ----------
    bits : (blocks along the axis, ...) float64; the mean over other axes
    edges : where the blocks begin and the last one ends, in samples, along each axis
    dims : names of the axes
    """

    bits: NDArray[np.float64]
    edges: tuple[NDArray[np.int64], ...]
    dims: tuple[str, ...]


@dataclass(frozen=True)
class ArrayInfo:
    """Figures of one array.

    Attributes
    ----------
    codec : Zarr name of its serializer or compressor
    params : parameters of a Gangsaw codec; `summary` are those of most interest
    n_chunks, missing : chunks of the array, and how many of them are not in the store
    raw_bytes, stored_bytes : of the samples and of the chunks
    min_chunk, max_chunk : bytes of the smallest and largest chunk
    index_bytes : bytes of frame headers and block indexes
    lane_bits, lane_dim : (lanes,) bits per sample of each item of the axis that has lanes, and the
        axis; None and "" where none has
    block_bits : bits per sample of the blocks, or None for a foreign codec
    picture : kind of its picture, see `Picture`
    """

    name: str
    shape: tuple[int, ...]
    dims: tuple[str, ...]
    dtype: str
    chunks: tuple[int, ...]
    codec: str
    params: Mapping[str, object]
    n_chunks: int
    missing: int
    raw_bytes: int
    stored_bytes: int
    min_chunk: int
    max_chunk: int
    index_bytes: int
    lane_bits: NDArray[np.float64] | None = field(default=None, compare=False)
    lane_dim: str = ""
    block_bits: BitMap | None = field(default=None, compare=False)
    summary: Mapping[str, object] = field(default_factory=dict, compare=False)
    picture: str = ""

    @property
    def ratio(self) -> float:
        """Raw over stored bytes."""
        return self.raw_bytes / self.stored_bytes if self.stored_bytes else 0.0

    @property
    def bits_per_sample(self) -> float:
        """Stored bits per sample."""
        samples = math.prod(self.shape)
        return 8 * self.stored_bytes / samples if samples else 0.0

    @property
    def index_percent(self) -> float:
        """Headers and indexes as a part of the stored bytes."""
        return 100 * self.index_bytes / self.stored_bytes if self.stored_bytes else 0.0

    def to_dict(self) -> dict[str, object]:
        """Return all figures as JSON values."""
        plain = {k: v for k, v in vars(self).items() if k not in NOT_FIGURES}
        derived = ("ratio", "bits_per_sample", "index_percent")
        figures = {**plain, **{name: getattr(self, name) for name in derived}}
        if self.lane_bits is not None:
            figures["lane_bits"] = [round(float(bits), 4) for bits in self.lane_bits]
        return figures


@dataclass(frozen=True)
class StoreInfo:
    """Figures of the arrays of a store; coordinates are left out.

    Attributes
    ----------
    source : the store, open
    history : of the jobs that wrote it, the oldest one first
    """

    store: str
    arrays: tuple[ArrayInfo, ...]
    source: ZarrSource = field(repr=False, compare=False)
    history: tuple[PastJob, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, object]:
        """Return all figures as JSON values."""
        return {
            "store": self.store,
            "arrays": [array.to_dict() for array in self.arrays],
            "history": [asdict(entry) for entry in self.history],
        }


def describe(store: str) -> StoreInfo:
    """Return the figures of a store.

    Raises
    ------
    BadParams : there is no Zarr array or group
    CorruptChunk : the index of a chunk is damaged
    """
    source = open_zarr(store)
    found = [open_array(store, a.key) for a in source.there]
    place = open_place(store)
    pairs = zip(found, source.there, strict=True)
    infos = tuple(_Survey(place, array, of.name, of.dims).info() for array, of in pairs)
    return StoreInfo(store, infos, source, read_history(place, [a.key for a in source.there]))


@dataclass
class _ChunkSizes:
    """Bytes of chunks, added up; `least` is None before the first."""

    count: int = 0
    total: int = 0
    least: int | None = None
    most: int = 0

    def add(self, size: int) -> None:
        """Count a chunk."""
        self.count += 1
        self.total += size
        self.least = size if self.least is None else min(self.least, size)
        self.most = max(self.most, size)


class _Survey:
    """A walk over the chunks of one array that adds up its figures."""

    def __init__(self, store: Place, array: AnyArray, name: str, dims: tuple[str, ...]) -> None:
        self.array, self.name, self.dims = array, name, dims
        self.place = store / array.path if array.path else store
        self.grid = ChunkGrid(array.shape, array.shards or array.chunks)
        self.grid.check_count(name)
        self.serializer = _block_codec(array, self.grid.chunks)
        self.coder = self._coder()
        self.sizes = _ChunkSizes()
        self.named = self.serializer if self.coder else _bytes_codec(array)
        self.params: Mapping[str, object] = self.named.params.to_dict() if self.named else {}
        name = self.named.codec_name if self.named else ""
        self.answers = codec_table.answers().get(name, Answers())
        # behind codecs that turn or pack an array its axes are no more those of the blocks
        tiled = self.coder is not None and self.coder.grid.is_tiled
        drawn = tiled and 0 not in self.grid.shape and dims and not array.filters
        self.picture = self.answers.picture(self.params, dims) if drawn else None
        self.tally = _BlockBits(self.coder, self.grid, dims, self.picture) if self.picture else None

    def info(self) -> ArrayInfo:
        """Return the figures."""
        for number, size, head in self._heads():
            self.sizes.add(size)
            if self.tally is not None and head is not None:
                self.tally.add(number, head)
        return ArrayInfo(
            name=self.name,
            shape=self.array.shape,
            dims=self.dims,
            dtype=type_name(self.array.dtype),
            chunks=self.grid.chunks,
            codec=self._codec_name(),
            params=self.params,
            n_chunks=self.grid.n_chunks,
            missing=self.grid.n_chunks - self.sizes.count,
            raw_bytes=self._raw_bytes(),
            stored_bytes=self.sizes.total,
            min_chunk=self.sizes.least or 0,
            max_chunk=self.sizes.most,
            index_bytes=self.coder.layout.index_size * self.sizes.count if self.coder else 0,
            lane_bits=self.tally.lane_bits() if self.tally else None,
            lane_dim=self.tally.lane_dim if self.tally else "",
            block_bits=self.tally.block_bits() if self.tally else None,
            summary=self._summary(),
            picture=self.picture.kind if self.picture else "",
        )

    def _raw_bytes(self) -> int:
        """Return the bytes of all samples; those of texts stand in the manifest of their job."""
        if self.array.dtype.kind == "T" and (manifest := open_manifest(self.place)) is not None:
            return manifest.raw_bytes
        return math.prod(self.array.shape) * self.array.dtype.itemsize

    def _summary(self) -> Mapping[str, object]:
        told = _of_filters(self.array)
        if self.named is None:
            return told
        return {**told, **self.answers.summary(self.params, type(self.named)().params.to_dict())}

    def _coder(self) -> ChunkCoder | None:
        of_v3 = isinstance(self.array.metadata, ArrayV3Metadata)
        behind = of_v3 and self.array.compressors
        if self.array.shards is not None or behind or not hasattr(self.serializer, "coder"):
            return None  # inside a shard or a compressor's bytes the index is not at the start
        assert self.serializer is not None
        if isinstance(self.array.metadata, ArrayV3Metadata):
            return self.serializer.coder(*handed_on(self.array.metadata, self.grid.chunks))
        return self.serializer.coder(self.grid.chunks, self.array.dtype)

    def _codec_name(self) -> str:
        own = getattr(self.serializer, "codec_name", "")
        of_v3 = isinstance(self.array.metadata, ArrayV3Metadata)
        others = self.array.compressors if of_v3 or not own else ()
        before = [name for name, _ in _filters(self.array)]
        return ", ".join([*before, *filter(None, [own]), *map(_name, others)]) or "none"

    def _heads(self) -> Iterator[tuple[int, int, frame.Index | None]]:
        """Yield number, stored bytes and index of each chunk that is there."""
        for first in range(0, self.grid.n_chunks, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, self.grid.n_chunks))
            keys = [self._key(number) for number in numbers]
            if self.coder is None:
                yield from (
                    (n, s, None)
                    for n, s in zip(numbers, self.place.sizes(keys), strict=True)
                    if s is not None
                )
                continue
            heads = self.place.get_heads(keys, self.coder.layout.index_size)
            for number, key, head in zip(numbers, keys, heads, strict=True):
                if head is not None:
                    index = self._index(key, head, self.coder)
                    yield number, int(index.offsets[-1]), index

    def _key(self, number: int) -> str:
        return self.array.metadata.encode_chunk_key(self.grid.position(number))

    def _index(self, key: str, head: Buffer | None, coder: ChunkCoder) -> frame.Index:
        known = [head]

        def parsed() -> frame.Index:
            (found,) = [known.pop()] if known else self.place.get_heads([key], n_bytes)
            return frame.parse_index(found.to_bytes() if found else b"", coder.layout)

        n_bytes = coder.layout.index_size
        try:
            return read_again(self.place, parsed)
        except CorruptChunk as error:
            raise error.at(store=str(self.place), chunk=key) from None


def _block_codec(array: AnyArray, chunks: tuple[int, ...]) -> BlockCodec | None:
    """Return the codec whose frames the chunks are, in either format of Zarr; None for others."""
    if array.metadata.zarr_format == 3:
        serializer = getattr(array, "serializer", None)
        while inner := getattr(serializer, "codecs", ()):  # of shards
            serializer = next(codec for codec in inner if isinstance(codec, ArrayBytesCodec))
        return cast("BlockCodec | None", serializer)
    of_v2 = array.compressors[0] if len(array.compressors) == 1 and not array.filters else None
    # a codec made for other shapes has other blocks: of it the name alone is told
    place = getattr(of_v2, "place", None)
    return getattr(of_v2, "codec", None) if place is None or place.shape == chunks else None


def _bytes_codec(array: AnyArray) -> BytesCodec | None:
    """Return the codec of ours that the bytes of chunks go through, in either format of Zarr."""
    own = (getattr(codec, "codec", codec) for codec in array.compressors)
    return next((codec for codec in own if isinstance(codec, BytesCodec)), None)


def _name(codec: object) -> str:
    """Return the Zarr name of one of our codecs, else the name of the class."""
    of_v2 = getattr(type(codec), "codec_id", "") if hasattr(codec, "codec") else ""
    return str(of_v2 or getattr(codec, "codec_name", type(codec).__name__))


def _filters(array: AnyArray) -> list[tuple[str, Mapping[str, object]]]:
    """Return name and configuration of each codec before the serializer."""
    if not isinstance(array.metadata, ArrayV3Metadata):
        return []
    codecs = cast("tuple[ArrayArrayCodec, ...]", array.filters)
    told = [cast("Mapping[str, object]", codec.to_dict()) for codec in codecs]
    settings = [cast("Mapping[str, object]", of.get("configuration", {})) for of in told]
    return [(str(of["name"]), own) for of, own in zip(told, settings, strict=True)]


def _of_filters(array: AnyArray) -> Mapping[str, object]:
    return {name: value for _, own in _filters(array) for name, value in own.items()}


class _BlockBits:
    """Bits of each lane and of each block that is drawn, added up chunk by chunk."""

    def __init__(
        self, coder: ChunkCoder | None, grid: ChunkGrid, dims: tuple[str, ...], picture: Picture
    ) -> None:
        assert coder is not None
        self.coder, self.grid, self.axes, self.lane_axis = coder, grid, picture.axes, picture.lanes
        self.dims = tuple(dims[axis] for axis in self.axes)
        self.edges = tuple(self._edges(axis) for axis in self.axes)
        self.map_bits = np.zeros([len(edges) - 1 for edges in self.edges])
        has_lanes = bool(coder.layout.n_lanes) and self.lane_axis is not None
        self.lanes = np.zeros(grid.shape[self.lane_axis or 0]) if has_lanes else None
        self.lane_dim = dims[self.lane_axis or 0] if has_lanes else ""

    def add(self, number: int, index: frame.Index) -> None:
        """Add a chunk."""
        corner = [s.start for s in self.grid.region(number)]
        for block in range(self.coder.layout.n_blocks):
            start = [
                c + s.start for c, s in zip(corner, self.coder.grid.slices(block), strict=True)
            ]
            self._add_block(start, 8 * int(index.lengths[block]))
            if self.lanes is not None and index.lane_bits is not None:
                self._add_lanes(start, index.lane_bits[block])

    def _add_block(self, start: list[int], bits: int) -> None:
        place = tuple(
            min(int(np.searchsorted(edges, start[axis], "right")) - 1, len(edges) - 2)
            for axis, edges in zip(self.axes, self.edges, strict=True)
        )  # a block that is all padding is not drawn
        self.map_bits[place] += bits

    def _add_lanes(self, start: list[int], lanes: NDArray[np.int64]) -> None:
        assert self.lanes is not None
        assert self.lane_axis is not None
        first = start[self.lane_axis]
        room = self.lanes[first : first + len(lanes)]
        room += lanes[: len(room)]

    def _edges(self, axis: int) -> NDArray[np.int64]:
        """Where blocks begin along an axis, and where the array ends."""
        extent, chunk = self.grid.shape[axis], self.grid.chunks[axis]
        block = self.coder.grid.block_shape[axis]
        starts = (c + b for c in range(0, extent, chunk) for b in range(0, chunk, block))
        return np.array([*(s for s in starts if s < extent), extent])

    def lane_bits(self) -> NDArray[np.float64] | None:
        """(lanes,) bits per sample."""
        if self.lanes is None:
            return None
        per_lane = math.prod(self.grid.shape) / len(self.lanes)
        bits: NDArray[np.float64] = self.lanes / per_lane
        return bits

    def block_bits(self) -> BitMap:
        """Bits per sample of each block along the axes that are drawn."""
        samples = np.ones(())
        for edges in self.edges:
            samples = np.multiply.outer(samples, np.diff(edges))
        deep = math.prod(n for i, n in enumerate(self.grid.shape) if i not in self.axes)
        return BitMap(self.map_bits / (samples * deep), self.edges, self.dims)
