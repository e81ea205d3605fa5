"""The base of all Zarr codecs here: the only module among the codecs that imports zarr."""

from __future__ import annotations

import asyncio
import inspect
from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.abc.store import ByteGetter, RangeByteRequest
from zarr.core.array_spec import ArraySpec
from zarr.core.buffer import Buffer, NDBuffer
from zarr.core.buffer.cpu import buffer_prototype as host_prototype
from zarr.core.common import JSON, parse_named_configuration
from zarr.core.config import config

from gangsaw.codecs.core.chunk import Array, ChunkCoder, Range
from gangsaw.codecs.core.device import to_host
from gangsaw.codecs.core.errors import BadParams, ChunkError
from gangsaw.codecs.core.frame import Bytes
from gangsaw.codecs.core.threads import set_default_limit


@dataclass(frozen=True, init=False)
class BlockCodec(ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """A codec whose chunk is a frame of blocks.

    A subclass sets `codec_name` and `params_type` and says in `coder` what shape, dtype and
    parameters imply; `encode_chunk` and `decode_chunk` are the hooks for what does not fit that.
    Its keywords are the fields of `params_type`.

    CorruptChunk and NewerFormat name store and chunk wherever Zarr tells them: in every read of an
    array whose last codec this is. Behind a compressor, and when part of a chunk is rewritten, Zarr
    hands over bare bytes, and inside a shard only the place there.

    Attributes
    ----------
    params : the codec's frozen parameters
    codec_name : its Zarr name
    params_type : the class of `params`, with `to_dict` and `from_dict`
    """

    params: Any
    is_fixed_size = False
    codec_name: ClassVar[str]
    params_type: ClassVar[type[Any]]
    __signature__: ClassVar[inspect.Signature]

    def __init_subclass__(cls) -> None:
        """Give the codec the signature of its parameters, for help() and editors."""
        super().__init_subclass__()
        cls.__signature__ = inspect.signature(cls.params_type)

    def __init__(self, **parameters: Any) -> None:
        object.__setattr__(self, "params", self.params_type(**parameters))

    @abstractmethod
    def coder(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ChunkCoder:
        """Return the coder for chunks of this shape and dtype; BadParams where there is none."""

    @abstractmethod
    def peak_bytes(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """Return a bound on what encoding or decoding one such chunk holds beside the chunk."""

    # A batch of chunks becomes one launch on a GPU by overriding `encode` and `decode` of Zarr's
    # base class, which get the batch; on the CPU blocks already fill the threads.
    def encode_chunk(self, chunk: Array) -> memoryview:
        """Return the frame of one chunk."""
        set_default_limit(config.get("threading.max_workers", None))
        return self.coder(chunk.shape, chunk.dtype).encode(chunk)

    def decode_chunk(self, data: Bytes, out: Array) -> None:
        """Fill `out` from the frame of one chunk."""
        set_default_limit(config.get("threading.max_workers", None))
        self.coder(out.shape, out.dtype).decode(data, out)

    def to_dict(self) -> dict[str, JSON]:
        """Return the codec as it stands in the array's metadata."""
        return {"name": self.codec_name, "configuration": self.params.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, JSON]) -> Self:
        """Read the codec from the array's metadata; raise BadParams for unknown parameters."""
        _, configuration = parse_named_configuration(
            data, cls.codec_name, require_configuration=False
        )
        return cls(**vars(cls.params_type.from_dict(configuration or {})))

    def validate(self, *, shape: tuple[int, ...], dtype: Any, chunk_grid: Any) -> None:
        """Refuse, with BadParams, an array that the codec cannot hold."""
        extents = getattr(chunk_grid, "chunk_shape", None)
        if extents is None:
            raise BadParams(f"{self.codec_name} needs a regular chunk grid")
        self.coder(tuple(extents), dtype.to_native_dtype())

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Refuse: the size depends on the data."""
        raise NotImplementedError

    def _encode_sync(self, chunk: NDBuffer, spec: ArraySpec) -> Buffer:
        return spec.prototype.buffer.from_bytes(self.encode_chunk(chunk.as_ndarray_like()))

    def _decode_sync(self, data: Buffer, spec: ArraySpec) -> NDBuffer:
        out = _empty(spec)
        self.decode_chunk(_host(data), out)
        return spec.prototype.nd_buffer.from_ndarray_like(out)

    async def _encode_single(self, chunk: NDBuffer, spec: ArraySpec) -> Buffer:
        return await asyncio.to_thread(self._encode_sync, chunk, spec)

    async def _decode_single(self, data: Buffer, spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, data, spec)

    async def _decode_partial_single(
        self, byte_getter: ByteGetter, selection: Any, spec: ArraySpec
    ) -> NDBuffer | None:
        read = _PartialRead(self, byte_getter, selection, spec)
        while read.wanted is not None:
            await asyncio.to_thread(read.advance, await _fetch(byte_getter, read.wanted))
        return read.result

    # The fused pipeline of zarr >= 3.4 reads whole chunks unless it finds this name.
    def _decode_partial_sync(
        self, byte_getter: Any, selection: Any, spec: ArraySpec
    ) -> NDBuffer | None:
        read = _PartialRead(self, byte_getter, selection, spec)
        while read.wanted is not None:
            get = partial(byte_getter.get_sync, prototype=host_prototype)
            read.advance([get(byte_range=_request(wish)) for wish in read.wanted])
        return read.result


class _PartialRead:
    """A partial read in progress: what it wants next, or, when that is None, its result."""

    def __init__(self, codec: BlockCodec, getter: Any, selection: Any, spec: ArraySpec) -> None:
        set_default_limit(config.get("threading.max_workers", None))
        coder = codec.coder(spec.shape, spec.dtype.to_native_dtype())
        self.reader = coder.read(selection, lambda: _empty(spec))
        self.getter, self.spec = getter, spec
        self.wanted: list[Range | None] | None = next(self.reader)
        self.result: NDBuffer | None = None

    def advance(self, fetched: list[Buffer | None]) -> None:
        """Give the bytes that were wanted; errors about the chunk name store and chunk."""
        try:
            self.wanted = self.reader.send([None if b is None else _host(b) for b in fetched])
        except StopIteration as end:
            self.wanted = None
            if end.value is not None:
                self.result = self.spec.prototype.nd_buffer.from_ndarray_like(end.value)
        except ChunkError as error:
            raise error.at(**_place(self.getter)) from error


async def _fetch(getter: ByteGetter, wanted: list[Range | None]) -> list[Buffer | None]:
    # as many at once as zarr itself would send, for a scattered selection has many ranges
    gate = asyncio.Semaphore(config.get("async.concurrency"))

    async def one(wish: Range | None) -> Buffer | None:
        async with gate:
            return await getter.get(host_prototype, _request(wish))

    return await asyncio.gather(*(one(wish) for wish in wanted))


def _request(wish: Range | None) -> RangeByteRequest | None:
    return None if wish is None else RangeByteRequest(*wish)


def _host(buffer: Buffer) -> npt.NDArray[np.uint8]:
    return to_host(buffer.as_array_like()).view(np.uint8)


def _empty(spec: ArraySpec) -> Array:
    dtype = spec.dtype.to_native_dtype()
    buffer = spec.prototype.nd_buffer.empty(spec.shape, dtype, spec.order)
    return buffer.as_ndarray_like()


def _place(getter: Any) -> dict[str, str]:
    """Name store and chunk; a chunk inside a shard has no path, only its place there."""
    if store := getattr(getter, "store", None):
        return {"store": str(store), "chunk": str(getter.path)}
    coordinates = getattr(getter, "chunk_coords", None)
    return {} if coordinates is None else {"chunk": f"{coordinates} of a shard"}
