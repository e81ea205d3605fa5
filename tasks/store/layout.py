"""How an array lies in the target: its chunks and its codec."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from zarr.abc.codec import ArrayBytesCodec, BytesBytesCodec
from zarr.codecs import BloscCodec, ZstdCodec

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.visibility.axes import FREQUENCIES, SHORT, is_interferometric
from gangsaw.tasks.engine.memory import transcode_bytes
from gangsaw.tasks.formats.axes import image_axes
from gangsaw.tasks.source import SourceArray
from gangsaw.tasks.store.chunks import MOST_CHUNKS

CHUNK_BYTES = 32 << 20  # of samples: a few blocks a chunk, a few chunks a thread of a scene
TILE = {"z": 1024, "y": 128, "x": 256}  # samples: no chunk is cut smaller, y and x as a block is
# of visibilities: as many times as a block has, and channels and baselines in equal shares
TIMES, CHANNELS, ROWS = 256, 256, 16

Codec = ArrayBytesCodec | BytesBytesCodec
CodecChoice = Codec | Literal["auto", "none"]
CodecChoices = CodecChoice | Mapping[str, CodecChoice]  # one for all arrays, or by array name
ChunkChoice = tuple[int, ...] | Mapping[str, int] | None


@dataclass(frozen=True)
class Layout:
    """Chunks and codec of one target array.

    Attributes
    ----------
    chunks : extent of a chunk in samples
    codec : serializer or compressor; None stores plain samples
    """

    chunks: tuple[int, ...]
    codec: Codec | None

    def creation(self) -> dict[str, Any]:
        """Return the arguments of `zarr.create_array` that say so."""
        if isinstance(self.codec, ArrayBytesCodec):
            return {"chunks": self.chunks, "serializer": self.codec, "compressors": None}
        return {"chunks": self.chunks, "compressors": () if self.codec is None else (self.codec,)}

    def peak_bytes(self, source: SourceArray) -> int:
        """Return the memory that transcoding one chunk needs at most."""
        dtype = source.dtype
        moved = transcode_bytes(source.shape, self.chunks, dtype, source.chunks)
        promise = getattr(self.codec, "peak_bytes", None)
        return moved + (promise(self.chunks, dtype) if promise else 0)


def choose_layout(source: SourceArray, codec: CodecChoices, chunks: ChunkChoice) -> Layout:
    """Return the layout; raise BadParams for chunks that do not fit the array."""
    extents = choose_chunks(source, chunks)
    chosen = codec[source.name] if isinstance(codec, Mapping) else codec
    return Layout(extents, choose_codec(source, extents) if chosen == "auto" else _codec(chosen))


def check_axes(arrays: Sequence[SourceArray], chunks: ChunkChoice) -> None:
    """Raise BadParams for chunks that name an axis which no array has."""
    if not isinstance(chunks, Mapping):
        return
    dims = {dim: None for array in arrays for dim in array.dims}  # in their order
    if unknown := sorted(set(chunks) - set(dims)):
        names = ", ".join(array.name for array in arrays)
        raise BadParams(f"{names} has no axis {unknown[0]!r}; it has {', '.join(dims)}")


def choose_chunks(source: SourceArray, chunks: ChunkChoice) -> tuple[int, ...]:
    """Return the caller's chunks, checked against the array, or the default ones."""
    return default_chunks(source) if chunks is None else _given(source, chunks)


def choose_codec(source: SourceArray, chunks: tuple[int, ...] | None = None) -> Codec:
    """Return the codec made for such content.

    That is the visibility codec for complex samples, a byte or bit shuffle and Zstandard for the
    weights, flags and coordinates beside them, CCSDS-123 for integer images, else Zstandard.
    """
    if source.dtype.kind == "c":
        return visibility_codec(source)
    if is_interferometric(source.dims):
        return _shuffled(source.dtype)
    is_integer = np.issubdtype(source.dtype, np.integer) and source.dtype.itemsize <= 4
    if is_integer and len(source.shape) >= 2:
        return _ccsds123(source, chunks or default_chunks(source))
    return ZstdCodec(level=3)


def default_chunks(source: SourceArray) -> tuple[int, ...]:
    """Return chunks of about CHUNK_BYTES at most: all bands where they fit, tiles in space.

    Pieces of an axis are equally long. Zarr pads the last one, and cutting 349 samples by 256 left
    163 columns of padding that cost a bit per sample.
    """
    if _size(source.shape, source) > MOST_CHUNKS * CHUNK_BYTES:
        raise BadParams(
            f"{source.name} claims {' x '.join(map(str, source.shape))} samples of "
            f"{source.dtype.name}, more than any array has: its file is damaged"
        )
    least = _tiles(source)
    pieces = [1 if i in least else n for i, n in enumerate(source.shape)]
    while least and _size(extents := _pieces(source, pieces), source) > CHUNK_BYTES:
        tiles = {i: extents[i] / tile for i, tile in least.items()}
        longest = max(tiles, key=tiles.__getitem__)
        if tiles[longest] <= 1:
            break  # even one tile of all bands is larger than CHUNK_BYTES
        pieces[longest] += 1
    return tuple(_pieces(source, pieces))


def _tiles(source: SourceArray) -> dict[int, int]:
    """Return the extent below which no chunk is cut, by axis; other axes are cut to 1."""
    if is_interferometric(source.dims) or source.dtype.kind == "c":
        return {i: _visibility_tile(d.lower(), n) for i, (d, n) in enumerate(_extents(source))}
    rank = len(source.shape)
    axes = image_axes(source.dims)[-rank:]
    return {i: TILE[name] for i, name in enumerate(axes, rank - len(axes))}


def _extents(source: SourceArray) -> list[tuple[str, int]]:
    return list(zip(source.dims, source.shape, strict=True))


def _visibility_tile(dim: str, extent: int) -> int:
    if dim in SHORT:
        return max(1, extent)
    return TIMES if dim == "time" else CHANNELS if dim in FREQUENCIES else ROWS


def default_block(chunks: tuple[int, ...], axes: str) -> tuple[int, int, int]:
    """Return the block (z, y, x) that cuts a chunk in equal tiles of about TILE; 0 is all of it.

    Slivers at the end cost most: 145 samples cut by 128 leave 17, so they are one block of 145.
    """
    own = axes[-len(chunks) :]
    extent = dict(zip(own, chunks[-len(own) :], strict=True))
    return 0, _tile(extent.get("y", 1), TILE["y"]), _tile(extent["x"], TILE["x"])


def _tile(extent: int, tile: int) -> int:
    return tile if extent <= tile else -(-extent // round(extent / tile))


def _pieces(source: SourceArray, pieces: list[int]) -> list[int]:
    return [max(1, -(-n // k)) for n, k in zip(source.shape, pieces, strict=True)]


def _ccsds123(source: SourceArray, chunks: tuple[int, ...]) -> Codec:
    from gangsaw.codecs.ccsds123.codec import Ccsds123

    axes = image_axes(source.dims)
    return Ccsds123(axes=axes, block=default_block(chunks, axes))


def visibility_codec(source: SourceArray) -> Codec:
    """Return the codec of visibilities, with the axes that their names tell."""
    from gangsaw.codecs.visibility.codec import Visibility

    return Visibility.for_dims(source.dims)


def _shuffled(dtype: np.dtype[Any]) -> Codec:
    """Return Zstandard after a shuffle: of bits for flags, whose bytes hold one of them each."""
    shuffle: Literal["bitshuffle", "shuffle"]
    shuffle = "bitshuffle" if dtype.itemsize == 1 else "shuffle"
    return BloscCodec(typesize=dtype.itemsize, cname="zstd", clevel=5, shuffle=shuffle)


def _codec(codec: Codec | str) -> Codec | None:
    if isinstance(codec, str):
        if codec == "none":
            return None
        raise BadParams(f"codec must be a Zarr codec, 'auto' or 'none', got {codec!r}")
    return codec


def _given(source: SourceArray, chunks: tuple[int, ...] | Mapping[str, int]) -> tuple[int, ...]:
    """Read the caller's chunks: one per axis, or by name; -1 is the whole axis."""
    if isinstance(chunks, Mapping):
        defaults = zip(source.dims, default_chunks(source), strict=True)
        chunks = tuple(chunks.get(name, default) for name, default in defaults)
    if len(chunks) != len(source.shape) or any(c == 0 or c < -1 for c in chunks):
        raise BadParams(
            f"chunks of {source.name} must be {len(source.shape)} extents of 1 or more "
            f"(-1 is the whole axis), got {chunks}"
        )
    pairs = zip(chunks, source.shape, strict=True)
    return tuple(n if c == -1 else min(c, n) for c, n in pairs)


def _size(extents: Sequence[int], source: SourceArray) -> int:
    return math.prod(extents) * source.dtype.itemsize
