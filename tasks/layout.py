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
TILE = (128, 256)  # rows, columns; chunks are whole multiples of this, the default block
BANDS = 1024  # more bands than that are cut too
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
    first = max(0, len(source.shape) - 3)
    extents = [n if i >= first else 1 for i, n in enumerate(source.shape)]
    least = _tiles(source.dims)
    while math.prod(extents) * source.dtype.itemsize > CHUNK_BYTES:
        axis = max(range(first, len(extents)), key=lambda i: extents[i] / least[i])
        if extents[axis] <= least[axis]:
            break  # even one tile of all bands is larger than CHUNK_BYTES
        extents[axis] = _halved(extents[axis], least[axis])
    return tuple(max(1, n) for n in extents)


def _tiles(dims: tuple[str, ...]) -> list[int]:
    """Return the least extent of a chunk along each axis: a block in space, many bands."""
    spatial = [i for i, name in enumerate(dims) if name.lower() not in SPECTRAL][-2:]
    tiles = dict(zip(reversed(spatial), reversed(TILE), strict=False))
    return [tiles.get(i, BANDS) for i in range(len(dims))]


def _halved(extent: int, least: int) -> int:
    return max(least, -(-extent // 2 // least) * least)


def _ccsds123(source: SourceArray) -> Codec:
    from gangsaw.codecs.ccsds123.codec import Ccsds123

    return Ccsds123(axes=image_axes(source.dims))


def image_axes(dims: tuple[str, ...]) -> str:
    """Return which of the last three axes are z, y and x: z is the spectral one, else the first."""
    last = [name.lower() in SPECTRAL for name in dims[-3:]]
    if len(last) < 3 or True not in last:
        return "zyx"
    spatial = iter("yx")
    return "".join("z" if i == last.index(True) else next(spatial) for i in range(3))


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
