"""Synchronous codec pipeline of an array, without zarr's event loop and threads.

Zarr's own calls take about 3 ms per chunk, as long as a codec takes for 0.5 MiB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, cast

import numpy as np
import zarr
from zarr.abc.codec import Codec
from zarr.codecs import Crc32cCodec, ShardingCodec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import Buffer, NDBuffer
from zarr.core.buffer.cpu import buffer_prototype as host_prototype
from zarr.core.metadata import ArrayV3Metadata

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.memory.reused import reused
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.codecs.core.zarr.bytes_codec import BytesCodec

if TYPE_CHECKING:
    from zarr.core.buffer import NDArrayLike

Coded: TypeAlias = "NDBuffer | Buffer"
NUMBERS = "biufc"  # dtype kinds that zarr passes to codecs without conversion


class SyncCodec(Protocol):
    """Codec with synchronous methods: zarr's own codecs and those of Gangsaw."""

    def _encode_sync(self, data: Coded, spec: ArraySpec) -> Coded | None: ...

    def _decode_sync(self, data: Coded, spec: ArraySpec) -> Coded: ...


Step: TypeAlias = tuple[SyncCodec, ArraySpec]  # codec and the specification of its input


@dataclass(frozen=True)
class CodecChain:
    """Codecs in the order of encoding, each with the specification of its input.

    Attributes
    ----------
    spec : specification of a whole chunk
    steps : codecs, with the specification of their input
    """

    spec: ArraySpec
    steps: tuple[Step, ...]

    @classmethod
    def for_array(cls, array: zarr.Array) -> Self | None:  # type: ignore[type-arg]
        """Return the codecs of an array, or None if only zarr itself can call them."""
        found = array.metadata
        if not isinstance(found, ArrayV3Metadata) or array.shards is not None or not array.ndim:
            return None
        if array.dtype.kind not in NUMBERS or not all(map(_is_sync, found.codecs)):
            return None
        order = ArrayConfig("C", True)
        spec = ArraySpec(array.chunks, found.data_type, found.fill_value, order, host_prototype)
        return cls(spec, steps_of(found.codecs, spec))

    @property
    def dtype(self) -> Dtype:
        """Dtype of the samples."""
        return self.spec.dtype.to_native_dtype()

    def encode(self, samples: NumpyArray) -> Buffer:
        """Return the encoded bytes of a chunk; a chunk at the array's edge is padded first."""
        as_buffer = self.spec.prototype.nd_buffer.from_ndarray_like
        data: Coded = as_buffer(cast("NDArrayLike", self._whole(samples)))
        for codec, spec in self.steps:
            coded = codec._encode_sync(data, spec)
            assert coded is not None, "only codecs of shards leave chunks out"
            data = coded
        return cast(Buffer, data)

    def decode(self, stored: Buffer, shape: tuple[int, ...]) -> NumpyArray:
        """Return the samples of a chunk without padding; the array may be read-only.

        Parameters
        ----------
        shape : extents of the chunk's region
        """
        chunk = self._decoded(stored)
        return chunk[tuple(map(slice, shape))].astype(self.dtype, copy=False)

    def decode_into(self, stored: Buffer, out: NumpyArray) -> None:
        """Decode a chunk into `out` without padding, and without a copy if the codec allows it."""
        if (codec := self._alone) is not None and out.shape == self.spec.shape:
            codec.decode_chunk(stored.as_numpy_array(), out)
        else:
            out[...] = self.decode(stored, out.shape)

    @property
    def _alone(self) -> BlockCodec | None:
        """The only codec of the array if it decodes into a given output array, else None."""
        codec = self.steps[-1][0]
        return codec if len(self.steps) == 1 and isinstance(codec, BlockCodec) else None

    def _decoded(self, stored: Buffer) -> NumpyArray:
        if (alone := self._alone) is not None:
            n_bytes = math.prod(self.spec.shape) * self.dtype.itemsize
            chunk: NumpyArray = reused(n_bytes).view(self.dtype).reshape(self.spec.shape)
            alone.decode_chunk(stored.as_numpy_array(), chunk)
            return chunk
        data: Coded = stored
        for codec, spec in reversed(self.steps):
            data = codec._decode_sync(data, spec)
        return cast(NDBuffer, data).as_numpy_array()

    def _whole(self, samples: NumpyArray) -> NumpyArray:
        if samples.dtype.name != self.dtype.name:
            samples = samples.astype(self.dtype)
        if samples.shape == self.spec.shape:
            return samples
        whole = np.full(self.spec.shape, self.spec.fill_value, self.dtype)
        whole[tuple(map(slice, samples.shape))] = samples
        return whole


def steps_of(codecs: Iterable[Codec], spec: ArraySpec) -> tuple[Step, ...]:
    """Return each codec with the specification of its input.

    Parameters
    ----------
    codecs : codecs in the order of encoding
    spec : specification of the chunks that the first codec encodes
    """
    steps, handed = [], spec
    for codec in codecs:
        steps.append((cast(SyncCodec, codec.evolve_from_array_spec(handed)), handed))
        handed = codec.resolve_metadata(handed)
    return tuple(steps)


def has_checksum(codecs: Iterable[Codec]) -> bool:
    """Return True if one of the codecs, or of those inside shards, detects changed bytes."""
    for codec in codecs:
        inner = codec.codecs if isinstance(codec, ShardingCodec) else ()
        if isinstance(codec, BlockCodec | BytesCodec | Crc32cCodec) or has_checksum(inner):
            return True
    return False


def _is_sync(codec: Codec) -> bool:
    return hasattr(codec, "_encode_sync") and hasattr(codec, "_decode_sync")
