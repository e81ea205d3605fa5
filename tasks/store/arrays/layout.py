"""Layout of a target array: its chunks and its codec."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer.cpu import buffer_prototype as host_prototype
from zarr.dtype import parse_dtype

from gangsaw.codecs.core.arrays import Dtype
from gangsaw.codecs.core.axes import image_axes
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec
from gangsaw.tasks.engine.scheduling.memory import count_overlaps, transcode_bytes
from gangsaw.tasks.sources.source import Description
from gangsaw.tasks.store.arrays.chunks import MOST_CHUNKS, ChunkGrid
from gangsaw.tasks.store.dataset.texts import item_bytes, working_bytes

MOST_TOUCHED = 1 << 18  # source chunks read for one target chunk: Zarr needs 2.5 kB for each
CHUNK_BYTES = 32 << 20  # per chunk of samples: a few blocks, a few chunks of a scene a thread
STACK_BYTES = 1 << 20  # of small images in one chunk, if the array has axes before the image axes
TILE = {"z": 1024, "y": 128, "x": 256}  # smallest extents of an image chunk, in samples

FILTER_COPIES = 3  # copies of a chunk that filters make


@dataclass(frozen=True)
class Filtered:
    """Serializer with the array-to-array codecs that are applied before it.

    Attributes
    ----------
    filters : array-to-array codecs in the order of encoding
    serializer : codec that encodes the output of the last filter
    """

    filters: tuple[ArrayArrayCodec, ...]
    serializer: ArrayBytesCodec

    def peak_bytes(self, chunks: tuple[int, ...], dtype: Dtype) -> int:
        """Return an upper bound of the memory for coding a chunk, in bytes, the chunk excepted."""
        order = ArrayConfig("C", True)
        kind = parse_dtype(dtype.newbyteorder("="), zarr_format=3)
        spec = ArraySpec(chunks, kind, dtype.type(0), order, host_prototype)
        own = FILTER_COPIES * math.prod(chunks) * dtype.itemsize
        for codec in self.filters:
            spec = codec.resolve_metadata(spec)
        promise = getattr(self.serializer, "peak_bytes", None)
        return own + (promise(chunks, spec.dtype.to_native_dtype()) if promise else 0)


Codec = ArrayBytesCodec | BytesBytesCodec | Filtered
CodecChoice = Codec | Literal["auto", "none"]
CodecChoices = CodecChoice | Mapping[str, CodecChoice]  # one for all arrays, or one by array name
ChunkChoice = tuple[int, ...] | Mapping[str, int] | None


class Creation(TypedDict, total=False):
    """Arguments of `zarr.create_array`."""

    chunks: tuple[int, ...]
    filters: tuple[ArrayArrayCodec, ...]
    serializer: ArrayBytesCodec
    compressors: tuple[BytesBytesCodec, ...] | None


@dataclass(frozen=True)
class ArrayLayout:
    """Chunks and codec of one target array.

    Attributes
    ----------
    chunks : extents of a chunk in samples
    codec : serializer, with or without filters, or compressor; None stores plain samples
    """

    chunks: tuple[int, ...]
    codec: Codec | None

    def creation(self) -> Creation:
        """Return the layout as arguments of `zarr.create_array`."""
        if isinstance(self.codec, Filtered):
            inner = ArrayLayout(self.chunks, self.codec.serializer).creation()
            return {**inner, "filters": self.codec.filters}
        if isinstance(self.codec, ArrayBytesCodec):
            return {"chunks": self.chunks, "serializer": self.codec, "compressors": None}
        return {"chunks": self.chunks, "compressors": () if self.codec is None else (self.codec,)}

    def peak_bytes(self, source: Description) -> int:
        """Return an upper bound of the memory for transcoding one chunk.

        A source that computes its samples on reading declares the memory for that as
        `working_bytes`.
        """
        dtype = source.dtype
        moved = transcode_bytes(source.shape, self.chunks, dtype, source.chunks)
        moved += int(getattr(source, "working_bytes", 0)) + self._of_texts(source)
        if isinstance(self.codec, BytesCodec):
            return moved + self.codec.peak_bytes(_size(self.chunks, source))
        promise = getattr(self.codec, "peak_bytes", None)
        return moved + (promise(self.chunks, dtype) if promise else 0)

    def _of_texts(self, source: Description) -> int:
        """Return the memory for strings of a target chunk and of the source chunks it overlaps."""
        pieces = source.chunks or self.chunks
        items = (max(a, b) for a, b in zip(self.chunks, pieces, strict=True))
        return working_bytes(source, math.prod(map(min, items, source.shape)))


def check_source_overlaps(source: Description, chunks: tuple[int, ...]) -> None:
    """Raise BadParams if a target chunk overlaps too many source chunks, which are read whole."""
    if source.chunks is None or 0 in source.shape:
        return
    axes = zip(source.shape, chunks, source.chunks, strict=True)
    touched = math.prod(min(-(-n // piece), count_overlaps(c, piece)) for n, c, piece in axes)
    if touched > MOST_TOUCHED:
        pieces, wanted = (" x ".join(map(str, sizes)) for sizes in (source.chunks, chunks))
        raise BadParams(
            f"{source.name}: a chunk of {wanted} samples would be read from {touched:,} chunks of "
            f"{pieces}, more than {MOST_TOUCHED:,}: use smaller chunks"
        )


def check_axes(arrays: Sequence[Description], chunks: ChunkChoice) -> None:
    """Raise BadParams if `chunks` has an extent for an axis name that no array has."""
    if not isinstance(chunks, Mapping):
        return
    dims = {dim: None for array in arrays for dim in array.dims}  # in order of appearance
    if unknown := sorted(set(chunks) - set(dims)):
        names = ", ".join(array.name for array in arrays)
        raise BadParams(f"{names} has no axis {unknown[0]!r}; it has {', '.join(dims)}")


def check_sizes(arrays: Sequence[Description], chunks: ChunkChoice) -> None:
    """Raise BadParams if a source or the requested layout has more chunks than a job can list.

    It reads no samples and runs before any read: a few bytes of metadata can claim any number.
    """
    for array in arrays:
        if 0 in array.shape:  # a stream of unknown length, or an empty array
            continue
        _check_bytes(array)
        pieces = getattr(array, "shards", None) or array.chunks
        for extents in (pieces, _requested_chunks(array, chunks)):
            if extents is not None:
                ChunkGrid(array.shape, extents).check_count(array.name)


def _requested_chunks(array: Description, chunks: ChunkChoice) -> tuple[int, ...] | None:
    """Return the requested chunk extents; axes without a requested extent are not divided."""
    if isinstance(chunks, Mapping):
        chunks = tuple(chunks.get(name, -1) for name in array.dims)
    return None if chunks is None else resolve_chunks(array, chunks)


def _check_bytes(source: Description) -> None:
    if _size(source.shape, source) > MOST_CHUNKS * CHUNK_BYTES:
        raise BadParams(
            f"{source.name} claims {' x '.join(map(str, source.shape))} samples of "
            f"{source.dtype.name}, more than any array has: its file is damaged"
        )


def default_chunks(source: Description, least: Mapping[int, int] | None = None) -> tuple[int, ...]:
    """Return chunks of at most about CHUNK_BYTES: all bands where they fit, tiles in space.

    Chunks along an axis have nearly equal extents. Zarr pads the last one: chunks of 256 on 349
    samples would store 163 columns of padding.

    Parameters
    ----------
    least : smallest extent of a chunk by axis index, 1 on other axes; None takes that of images
    """
    _check_bytes(source)
    if least is None:
        return _stack_images(source, default_chunks(source, _image_tiles(source.dims)))
    pieces = [1 if i in least else max(1, n) for i, n in enumerate(source.shape)]
    while least and _size(extents := _pieces(source, pieces), source) > CHUNK_BYTES:
        tiles = {i: extents[i] / tile for i, tile in least.items()}
        longest = max(tiles, key=tiles.__getitem__)
        if tiles[longest] <= 1:
            break  # even one tile of all bands is larger than CHUNK_BYTES
        pieces[longest] += 1
    return tuple(_pieces(source, pieces))


def _stack_images(source: Description, image: tuple[int, ...]) -> tuple[int, ...]:
    """Return chunks that combine several small images, along the axes before the last three.

    With one image per chunk an array of (10^6, 2, 2, 2) would become 10^6 objects of some bytes.

    Parameters
    ----------
    image : chunk extents with one image per chunk
    """
    extents = list(image)
    for i in reversed(range(max(0, len(extents) - 3))):
        room = max(1, STACK_BYTES // max(1, _size(extents, source)))
        n = max(1, source.shape[i])
        extents[i] = -(-n // -(-n // room))
    return tuple(extents)


def _image_tiles(dims: tuple[str, ...]) -> dict[int, int]:
    rank = len(dims)
    axes = image_axes(dims)[-rank:] if rank else ""
    return {i: TILE[name] for i, name in enumerate(axes, rank - len(axes))}


def _pieces(source: Description, pieces: list[int]) -> list[int]:
    return [max(1, -(-n // k)) for n, k in zip(source.shape, pieces, strict=True)]


def resolve_chunks(
    source: Description, chunks: ChunkChoice, least: Mapping[int, int] | None = None
) -> tuple[int, ...]:
    """Return the requested chunks, or those of `default_chunks`.

    Parameters
    ----------
    chunks : one extent per axis, or some by axis name; -1 is the whole axis

    Raises
    ------
    BadParams : the chunks do not fit the array
    """
    if chunks is None:
        return default_chunks(source, least)
    if isinstance(chunks, Mapping):
        defaults = zip(source.dims, default_chunks(source, least), strict=True)
        chunks = tuple(chunks.get(name, default) for name, default in defaults)
    if len(chunks) != len(source.shape) or any(c == 0 or c < -1 for c in chunks):
        raise BadParams(
            f"chunks of {source.name} must be {len(source.shape)} extents of 1 or more "
            f"(-1 is the whole axis), got {chunks}"
        )
    pairs = zip(chunks, source.shape, strict=True)
    return tuple(max(1, n if c == -1 else min(c, n)) for c, n in pairs)


def _size(extents: Sequence[int], source: Description) -> int:
    return math.prod(extents) * item_bytes(source)
