"""The codecs of an array, called directly: zarr's own calls go through its event loop and threads.

They take some 3 ms a chunk there, as long as a codec takes for half a MiB.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias, cast

import numpy as np
import zarr
from zarr.abc.codec import Codec
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import Buffer, NDBuffer
from zarr.core.buffer.cpu import buffer_prototype as host_prototype
from zarr.core.metadata import ArrayV3Metadata

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.memory.reused import reused
from gangsaw.codecs.core.zarr.block_codec import BlockCodec

if TYPE_CHECKING:
    from zarr.core.buffer import NDArrayLike

Coded: TypeAlias = "NDBuffer | Buffer"
NUMBERS = "biufc"  # kinds of samples that zarr hands to codecs as they are


class SyncCodec(Protocol):
    """What zarr's own codecs are besides their asynchronous selves, and all of ours."""

    def _encode_sync(self, data: Coded, spec: ArraySpec) -> Coded | None: ...

    def _decode_sync(self, data: Coded, spec: ArraySpec) -> Coded: ...


Step: TypeAlias = tuple[SyncCodec, ArraySpec]  # a codec, and what it is handed


@dataclass(frozen=True)
class CodecChain:
    """Codecs in the order of encoding, each with what it is handed.

    Attributes
    ----------
    spec : of a whole chunk
    steps : codecs, with the specification of their input
    """

    spec: ArraySpec
    steps: tuple[Step, ...]

    @classmethod
    def of(cls, array: zarr.Array) -> Self | None:  # type: ignore[type-arg]
        """Return the codecs of an array; None where zarr itself must call them."""
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
        """Of the samples."""
        return self.spec.dtype.to_native_dtype()

    def encode(self, samples: NumpyArray) -> Buffer:
        """Return the stored form of a chunk; at the array's edge it is padded."""
        as_buffer = self.spec.prototype.nd_buffer.from_ndarray_like
        data: Coded = as_buffer(cast("NDArrayLike", self._whole(samples)))
        for codec, spec in self.steps:
            coded = codec._encode_sync(data, spec)
            assert coded is not None, "only codecs of shards leave chunks out"
            data = coded
        return cast(Buffer, data)

    def decode(self, stored: Buffer, shape: tuple[int, ...]) -> NumpyArray:
        """Return the samples of a chunk without padding, perhaps read-only.

        Parameters
        ----------
        shape : of the chunk's region
        """
        chunk = self._decoded(stored)
        return chunk[tuple(map(slice, shape))].astype(self.dtype, copy=False)

    def decode_into(self, stored: Buffer, out: NumpyArray) -> None:
        """Fill the samples of a chunk without padding; where it can be, without a copy of them."""
        if (codec := self._alone) is not None and out.shape == self.spec.shape:
            codec.decode_chunk(stored.as_numpy_array(), out)
        else:
            out[...] = self.decode(stored, out.shape)

    @property
    def _alone(self) -> BlockCodec | None:
        """The codec of an array that has no other, and decodes into any memory."""
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
    """Return codecs with what each is handed, of chunks that the first one is handed."""
    steps, handed = [], spec
    for codec in codecs:
        steps.append((cast(SyncCodec, codec.evolve_from_array_spec(handed)), handed))
        handed = codec.resolve_metadata(handed)
    return tuple(steps)


def _is_sync(codec: Codec) -> bool:
    return hasattr(codec, "_encode_sync") and hasattr(codec, "_decode_sync")
