"""How an array lies in the target: its chunks and its codec."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.memory import transcode_bytes
from gangsaw.tasks.sources.base import SourceArray
from zarr.abc.codec import ArrayBytesCodec, BytesBytesCodec
from zarr.codecs import ZstdCodec

CHUNK_BYTES = (
    16 << 20
)  # of samples: several chunks per thread for a scene, few requests for a store
TILE = 128  # samples; chunks are whole multiples of the default block
SPECTRAL = {"band", "bands", "wavelength", "wavelengths", "channel", "spectral", "z"}

Codec = ArrayBytesCodec | BytesBytesCodec
CodecChoice = Codec | Literal["auto", "none"]
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


def choose_layout(source: SourceArray, codec: CodecChoice, chunks: ChunkChoice) -> Layout:
    """Return the layout; raise BadParams for chunks that do not fit the array."""
    extents = default_chunks(source) if chunks is None else _given(source, chunks)
    return Layout(extents, choose_codec(source) if codec == "auto" else _codec(codec))


def choose_codec(source: SourceArray) -> Codec:
    """Return the codec made for such content: CCSDS-123 for integer images, else Zstandard."""
    is_integer = np.issubdtype(source.dtype, np.integer) and source.dtype.itemsize <= 4
    if is_integer and len(source.shape) >= 2:
        return _ccsds123(source)
    return ZstdCodec(level=3)


def default_chunks(source: SourceArray) -> tuple[int, ...]:
    """Return chunks of at most CHUNK_BYTES: all bands where they fit, tiles in space."""
    axes = _image_axes(source)
    extents = [n if i in axes else 1 for i, n in enumerate(source.shape)]
    spectral = next((i for i in axes if source.dims[i].lower() in SPECTRAL), None)
    spatial = [i for i in axes if i != spectral]
    while _size(extents, source) > CHUNK_BYTES and (axis := _longest(extents, spatial)) is not None:
        extents[axis] = _halved(extents[axis])
    while _size(extents, source) > CHUNK_BYTES and (axis := _longest(extents, axes)) is not None:
        extents[axis] = _halved(extents[axis])
    return tuple(max(1, n) for n in extents)


def _ccsds123(source: SourceArray) -> Codec:
    from gangsaw.codecs.ccsds123.codec import Ccsds123

    last_is_spectral = source.dims[-1].lower() in SPECTRAL
    return Ccsds123(axes="yxz" if last_is_spectral and len(source.dims) > 2 else "zyx")


def _codec(codec: Codec | str) -> Codec | None:
    if isinstance(codec, str):
        if codec == "none":
            return None
        raise BadParams(f"codec must be a Zarr codec, 'auto' or 'none', got {codec!r}")
    return codec


def _given(source: SourceArray, chunks: tuple[int, ...] | Mapping[str, int]) -> tuple[int, ...]:
    """Read the caller's chunks: one per axis, or by name; -1 is the whole axis."""
    if isinstance(chunks, Mapping):
        if unknown := sorted(set(chunks) - set(source.dims)):
            names = ", ".join(source.dims)
            raise BadParams(f"{source.name} has no axis {unknown[0]!r}; it has {names}")
        defaults = zip(source.dims, default_chunks(source), strict=True)
        chunks = tuple(chunks.get(name, default) for name, default in defaults)
    if len(chunks) != len(source.shape) or any(c == 0 or c < -1 for c in chunks):
        raise BadParams(
            f"chunks of {source.name} must be {len(source.shape)} extents of 1 or more "
            f"(-1 is the whole axis), got {chunks}"
        )
    pairs = zip(chunks, source.shape, strict=True)
    return tuple(n if c == -1 else min(c, n) for c, n in pairs)


def _image_axes(source: SourceArray) -> list[int]:
    rank = len(source.shape)
    return list(range(max(0, rank - 3), rank))


def _size(extents: list[int], source: SourceArray) -> int:
    return math.prod(extents) * source.dtype.itemsize


def _longest(extents: list[int], axes: list[int]) -> int | None:
    longest = max(axes, key=lambda i: extents[i], default=None)
    return None if longest is None or extents[longest] <= TILE else longest


def _halved(extent: int) -> int:
    return max(TILE, -(-extent // 2 // TILE) * TILE)
