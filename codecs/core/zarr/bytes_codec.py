"""Base class of Zarr codecs of bytes, which follow a serializer of another package."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from zarr.abc.codec import BytesBytesCodec
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer
from zarr.core.config import config

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.cuda.device import to_host
from gangsaw.codecs.core.memory.threads import set_default_limit
from gangsaw.codecs.core.plugins.parameters import Parameters
from gangsaw.codecs.core.zarr.named import NamedCodec


@dataclass(frozen=True, init=False)
class BytesCodec(NamedCodec, BytesBytesCodec):
    """Base class of codecs of bytes that a serializer produced from a chunk.

    A subclass sets the class attributes of `NamedCodec`. Errors name neither store nor chunk: Zarr
    passes only bytes.
    """

    params: Parameters
    is_fixed_size = False

    @abstractmethod
    def encode_bytes(self, data: Bytes) -> Bytes:
        """Return encoded bytes; raise BadParams if there are too many."""

    @abstractmethod
    def decode_bytes(self, data: Bytes) -> Bytes:
        """Return decoded bytes; raise CorruptChunk or NewerFormat for invalid ones."""

    @abstractmethod
    def peak_bytes(self, n_bytes: int) -> int:
        """Return an upper bound of the working memory to code n_bytes bytes, in bytes."""

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Raise NotImplementedError: the size depends on the data."""
        raise NotImplementedError

    async def _encode_single(self, chunk: Buffer, spec: ArraySpec) -> Buffer | None:
        return await asyncio.to_thread(self._encode_sync, chunk, spec)

    async def _decode_single(self, data: Buffer, spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._decode_sync, data, spec)

    # names that zarr >= 3.4 calls without a thread
    def _encode_sync(self, chunk: Buffer, spec: ArraySpec) -> Buffer | None:
        return _applied(self.encode_bytes, chunk, spec)

    def _decode_sync(self, data: Buffer, spec: ArraySpec) -> Buffer:
        return _applied(self.decode_bytes, data, spec)


def _applied(work: Callable[[Bytes], Bytes], data: Buffer, spec: ArraySpec) -> Buffer:
    set_default_limit(config.get("threading.max_workers", None))
    octets: Bytes = to_host(data.as_array_like()).view(np.uint8)
    return spec.prototype.buffer.from_array_like(work(octets))
