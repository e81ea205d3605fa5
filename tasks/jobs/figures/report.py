"""Figures of a store, from its metadata and the index of each chunk, without decoding blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from zarr.core.buffer import Buffer
from zarr.core.metadata.v3 import ArrayV3Metadata

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.plugins.selection import Capabilities
from gangsaw.codecs.core.zarr.block_codec import handed_on
from gangsaw.tasks.jobs.figures.array_codecs import (
    block_codec_of,
    bytes_codec_of,
    codec_name_of,
    filter_settings_of,
    filters_of,
    is_by_item,
)
from gangsaw.tasks.jobs.figures.bits import ArrayBits, BitMap, BlockBits, ChunkBits
from gangsaw.tasks.jobs.sizes import StoreSizes, original_bytes_of
from gangsaw.tasks.store.arrays.chunks import ChunkGrid
from gangsaw.tasks.store.dataset.texts import type_name
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix, retry_read
from gangsaw.tasks.store.source import ZarrSource, open_array, open_zarr
from gangsaw.tasks.store.state.history import PastJob, read_history
from gangsaw.tasks.store.state.manifest import open_manifest

if TYPE_CHECKING:
    from zarr.types import AnyArray

# fields of an array that are left out of JSON
NOT_FIGURES = ("lane_dim", "lane_axis", "mapped", "survey", "bits", "is_far", "summary", "picture")
AT_ONCE = 256  # chunks whose indexes are fetched together
MOST_LISTED = 1 << 14  # chunks of an array that are listed over a network: a request per thousand


@dataclass(frozen=True)
class ArrayInfo:
    """Figures of one array of a store: codec, sizes and bits per sample.

    Attributes
    ----------
    codec : Zarr name of its serializer or compressor
    params : parameters of a Gangsaw codec; `summary` are those of most interest
    n_chunks : chunks of the array
    missing : number of chunks that are not in the store; None if they were not listed: over a
        network, for an array of more than MOST_LISTED chunks whose manifest has their sizes
    raw_bytes, stored_bytes : bytes of the samples and of the chunks
    min_chunk, max_chunk : bytes of the smallest and largest chunk
    index_bytes : bytes of frame headers and block indexes
    lane_dim : name of the axis that has lanes, "" without such an axis
    lane_axis : number of the axis whose items may be lanes, such as bands; None without one
    mapped : "block" or "chunk", the parts of the array whose bits can be mapped; else ""
    picture : name of the kind of plot that `info --plot` draws, see `Picture`
    is_far : True for a store over a network, where no chunk was read for the figures
    survey : reads the index of every chunk and returns the bits of its parts
    """

    name: str
    shape: tuple[int, ...]
    dims: tuple[str, ...]
    dtype: str
    chunks: tuple[int, ...]
    codec: str
    params: Mapping[str, object]
    n_chunks: int
    missing: int | None
    raw_bytes: int
    stored_bytes: int
    min_chunk: int
    max_chunk: int
    index_bytes: int
    lane_dim: str = ""
    lane_axis: int | None = field(default=None, compare=False)
    mapped: str = field(default="", compare=False)
    summary: Mapping[str, object] = field(default_factory=dict, compare=False)
    picture: str = ""
    is_far: bool = field(default=False, compare=False)
    survey: Callable[[], ArrayBits] = field(default=ArrayBits, compare=False, repr=False)

    @cached_property
    def bits(self) -> ArrayBits:
        """Bits of lanes, blocks and chunks; over a network they are read on first use."""
        return self.survey()

    @property
    def lane_bits(self) -> NDArray[np.float64] | None:
        """(lanes,) bits per sample of each item of the axis that has lanes, or None."""
        return self.bits.blocks.lane_bits() if self.bits.blocks is not None else None

    @property
    def block_bits(self) -> BitMap | None:
        """Bits per sample of the blocks, or None for a foreign codec."""
        return self.bits.blocks.block_bits() if self.bits.blocks is not None else None

    @property
    def chunk_bits(self) -> BitMap | None:
        """Bits per sample of the chunks, if there is no map of blocks; None without samples."""
        return self.bits.chunks.bits() if self.bits.chunks is not None else None

    @property
    def has_bits(self) -> bool:
        """True if the bits are available without a further read."""
        return not self.is_far or "bits" in vars(self)

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
        """Headers and indexes in percent of the stored bytes."""
        return 100 * self.index_bytes / self.stored_bytes if self.stored_bytes else 0.0

    def to_dict(self) -> dict[str, object]:
        """Return all figures as JSON values."""
        plain = {k: v for k, v in vars(self).items() if k not in NOT_FIGURES}
        derived = ("ratio", "bits_per_sample", "index_percent")
        figures = {**plain, **{name: getattr(self, name) for name in derived}}
        if self.has_bits and self.lane_bits is not None:
            figures["lane_bits"] = [round(float(bits), 4) for bits in self.lane_bits]
        return figures


@dataclass(frozen=True)
class StoreInfo:
    """Figures of a store: codec and sizes of each array; coordinates are left out.

    Parameters
    ----------
    store : str
        Path or address of the store.
    arrays : tuple of `ArrayInfo`
        Figures of each array.
    source : `ZarrSource`
        The open store.
    history : tuple of `PastJob`, default ()
        Jobs that wrote the store, the oldest first.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> summary = gangsaw.compress(np.zeros((4, 32, 32), "uint16"), "cube.zarr", codec="ccsds123")
    >>> figures = gangsaw.info("cube.zarr")
    >>> figures.arrays[0].shape, figures.sizes.raw_bytes
    ((4, 32, 32), 8192)
    """

    store: str
    arrays: tuple[ArrayInfo, ...]
    source: ZarrSource = field(repr=False, compare=False)
    history: tuple[PastJob, ...] = field(default=(), compare=False)

    @property
    def sizes(self) -> StoreSizes:
        """Sizes of all arrays together."""
        raw, stored = (
            sum(getattr(a, n) for a in self.arrays) for n in ("raw_bytes", "stored_bytes")
        )
        return StoreSizes(raw, stored, original_bytes_of(self.history))

    def to_dict(self) -> dict[str, object]:
        """Return all figures as JSON values.

        Returns
        -------
        dict
            Names and values, as `gangsaw info --json` prints them.
        """
        return {
            "store": self.store,
            **self.sizes.to_dict(),
            "arrays": [array.to_dict() for array in self.arrays],
            "history": [asdict(entry) for entry in self.history],
        }


def describe(store: str) -> StoreInfo:
    """Return the figures of a store.

    Raises
    ------
    BadParams : `store` is no Zarr array or group
    CorruptChunk : the index of a chunk is damaged
    """
    source = open_zarr(store)
    found = [open_array(store, a.key) for a in source.there]
    place = open_prefix(store)
    pairs = zip(found, source.there, strict=True)
    infos = tuple(_Survey(place, array, of.name, of.dims).info() for array, of in pairs)
    return StoreInfo(store, infos, source, read_history(place, [a.key for a in source.there]))


@dataclass
class _ChunkSizes:
    """Number, sum and range of the stored bytes of chunks; `least` is None before the first."""

    count: int = 0
    total: int = 0
    least: int | None = None
    most: int = 0

    def add(self, size: int) -> None:
        """Add the size of a chunk."""
        self.add_all(np.array([size]))

    def add_all(self, sizes: NDArray[np.int64]) -> None:
        """Add the sizes of chunks."""
        if not len(sizes):
            return
        least, most = int(sizes.min()), int(sizes.max())
        self.count += len(sizes)
        self.total += int(sizes.sum())
        self.least = least if self.least is None else min(self.least, least)
        self.most = max(self.most, most)


class _Survey:
    """Collector of the figures of one array, from a walk over its chunks."""

    def __init__(self, store: Prefix, array: AnyArray, name: str, dims: tuple[str, ...]) -> None:
        self.array, self.name, self.dims = array, name, dims
        self.place = store / array.path if array.path else store
        self.grid = ChunkGrid(array.shape, array.shards or array.chunks)
        self.grid.check_count(name)
        self.serializer = block_codec_of(array, self.grid.chunks)
        self.coder = self._coder()
        self.sizes = _ChunkSizes()
        self.named = self.serializer if self.coder else bytes_codec_of(array)
        self.params: Mapping[str, object] = self.named.params.to_dict() if self.named else {}
        name = self.named.codec_name if self.named else ""
        self.capabilities = codec_table.capabilities().get(name, Capabilities())
        # other filters may transpose or pack an array: its axes would not be those of the blocks
        has_samples = bool(dims) and 0 not in self.grid.shape
        has_places = self.coder is not None and (self.coder.grid.is_tiled or len(dims) == 1)
        drawn = has_places and has_samples and is_by_item(array)
        self.picture = self.capabilities.picture(self.params, dims) if drawn else None
        self.tally = BlockBits(self.coder, self.grid, dims, self.picture) if self.picture else None
        is_mapped = has_samples and self.tally is None
        self.chunk_bits = ChunkBits(self.grid, dims) if is_mapped else None

    def info(self) -> ArrayInfo:
        """Return the figures of the array."""
        is_far, is_listed = self.place.is_remote, True
        if is_far:
            is_listed = self._take_stored_sizes()
        else:
            self.bits()
        return ArrayInfo(
            name=self.name,
            shape=self.array.shape,
            dims=self.dims,
            dtype=type_name(self.array.dtype),
            chunks=self.grid.chunks,
            codec=self._codec_name(),
            params=self.params,
            n_chunks=self.grid.n_chunks,
            missing=self.grid.n_chunks - self.sizes.count if is_listed else None,
            raw_bytes=self._raw_bytes(),
            stored_bytes=self.sizes.total,
            min_chunk=self.sizes.least or 0,
            max_chunk=self.sizes.most,
            index_bytes=self.coder.layout.index_size * self.sizes.count if self.coder else 0,
            lane_dim=self.tally.lane_dim if self.tally else "",
            lane_axis=self.picture.lanes if self.picture else None,
            mapped="block" if self.tally else "chunk" if self.chunk_bits else "",
            summary=self._summary(),
            picture=self.picture.kind if self.picture else "",
            is_far=is_far,
            survey=self.bits if is_far else lambda: ArrayBits(self.tally, self.chunk_bits),
        )

    def bits(self) -> ArrayBits:
        """Read the frame index of each chunk; return the bits. For a local store, record sizes."""
        for number, size, head in self._heads():
            if not self.place.is_remote:
                self.sizes.add(size)
            if self.tally is not None and head is not None:
                self.tally.add(number, head)
            if self.chunk_bits is not None:
                self.chunk_bits.add(number, 8 * size)
        return ArrayBits(self.tally, self.chunk_bits)

    def _take_stored_sizes(self) -> bool:
        """Record the sizes of remote chunks without reading any; return True if all were listed.

        A listing returns a thousand keys per request. The manifest has the sizes of many chunks in
        one object or a few.
        """
        n_chunks = self.grid.n_chunks
        if n_chunks > MOST_LISTED or not self.place.can_list:
            manifest = open_manifest(self.place)
            if manifest is not None and manifest.n_chunks == n_chunks:
                for part in manifest.parts():
                    self.sizes.add_all(part.rows["stored"].astype(np.int64))
                return False
        if self.place.can_list:
            keys = [self._key(number) for number in range(n_chunks)]
            found = [size for size in self.place.sizes(keys) if size is not None]
            self.sizes.add_all(np.array(found, np.int64))
            return True
        for _, size, _ in self._heads():
            self.sizes.add(size)
        return True

    def _raw_bytes(self) -> int:
        """Return the bytes of all samples; for texts, they are in the manifest of their job."""
        if self.array.dtype.kind == "T" and (manifest := open_manifest(self.place)) is not None:
            return manifest.raw_bytes
        return math.prod(self.array.shape) * self.array.dtype.itemsize

    def _summary(self) -> Mapping[str, object]:
        told, named = filter_settings_of(self.array), self.named
        if named is None:
            return told
        return {**told, **self.capabilities.summary(self.params, type(named)().params.to_dict())}

    def _coder(self) -> ChunkCoder | None:
        of_v3 = isinstance(self.array.metadata, ArrayV3Metadata)
        behind = of_v3 and self.array.compressors
        if self.array.shards is not None or behind or not hasattr(self.serializer, "coder"):
            return None  # a shard or a compressor's output has no index at its start
        assert self.serializer is not None
        if isinstance(self.array.metadata, ArrayV3Metadata):
            return self.serializer.coder(*handed_on(self.array.metadata, self.grid.chunks))
        return self.serializer.coder(self.grid.chunks, self.array.dtype)

    def _codec_name(self) -> str:
        own = getattr(self.serializer, "codec_name", "")
        of_v3 = isinstance(self.array.metadata, ArrayV3Metadata)
        others = self.array.compressors if of_v3 or not own else ()
        before = [name for name, _ in filters_of(self.array)]
        return ", ".join([*before, *filter(None, [own]), *map(codec_name_of, others)]) or "none"

    def _heads(self) -> Iterator[tuple[int, int, frame.Index | None]]:
        """Yield number, stored bytes and frame index of each chunk in the store."""
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
            return retry_read(self.place, parsed)
        except CorruptChunk as error:
            raise error.at(store=str(self.place), chunk=key) from None
