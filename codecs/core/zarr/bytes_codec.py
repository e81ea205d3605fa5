"""The base of Zarr codecs of bytes: they stand behind a serializer that is none of ours."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from zarr.abc.codec import BytesBytesCodec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer
from zarr.core.config import config

from gangsaw.codecs.core.cuda.device import to_host
from gangsaw.codecs.core.memory.threads import set_default_limit
from gangsaw.codecs.core.parameters import Parameters
from gangsaw.codecs.core.zarr.named import NamedCodec

Octets: TypeAlias = NDArray[np.uint8]


@dataclass(frozen=True, init=False)
class BytesCodec(NamedCodec, BytesBytesCodec):
    """A codec of the bytes that a serializer made of a chunk.

    A subclass sets the class attributes of `NamedCodec`. Errors name neither store nor chunk: Zarr
    hands over bytes alone.
    """

    params: Parameters
    is_fixed_size = False

    @abstractmethod
    def encode_bytes(self, data: Octets) -> Octets:
        """Return any bytes, encoded; BadParams where they are too many."""

    @abstractmethod
    def decode_bytes(self, data: Octets) -> Octets:
        """Return the bytes that were encoded; CorruptChunk or NewerFormat for others."""

    @abstractmethod
    def peak_bytes(self, n_bytes: int) -> int:
        """Return a bound on what encoding or decoding so many bytes holds besides them."""

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Refuse: the size depends on the data."""
        raise NotImplementedError

    async def _encode_single(self, chunk: Buffer, spec: ArraySpec) -> Buffer | None:
        return await asyncio.to_thread(self._encode_sync, chunk, spec)

    async def _decode_single(self, data: Buffer, spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._decode_sync, data, spec)

    # by these names zarr >= 3.4 calls them without a thread
    def _encode_sync(self, chunk: Buffer, spec: ArraySpec) -> Buffer | None:
        return _applied(self.encode_bytes, chunk, spec)

    def _decode_sync(self, data: Buffer, spec: ArraySpec) -> Buffer:
        return _applied(self.decode_bytes, data, spec)


def _applied(work: Callable[[Octets], Octets], data: Buffer, spec: ArraySpec) -> Buffer:
    set_default_limit(config.get("threading.max_workers", None))
    octets: Octets = to_host(data.as_array_like()).view(np.uint8)
    return spec.prototype.buffer.from_array_like(work(octets))
