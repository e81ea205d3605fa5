"""Base class of Zarr codecs of arrays, whose chunk is a frame of blocks."""

from __future__ import annotations

import asyncio
import math
import sys
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from zarr.abc.codec import ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin
from zarr.abc.store import ByteGetter, RangeByteRequest
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import Buffer, BufferPrototype, NDBuffer, gpu
from zarr.core.buffer.cpu import buffer_prototype as host_prototype
from zarr.core.config import config
from zarr.core.metadata.v3 import ArrayV3Metadata

from gangsaw.codecs.core.arrays import Array, Dtype
from gangsaw.codecs.core.container.checksum import Bytes
from gangsaw.codecs.core.container.chunk import ChunkCoder, Range
from gangsaw.codecs.core.container.plan import ChunkPlan
from gangsaw.codecs.core.container.runs import Origin, Runs
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import set_default_limit
from gangsaw.codecs.core.plugins.parameters import Parameters
from gangsaw.codecs.core.zarr.named import NamedCodec

if TYPE_CHECKING:
    from zarr.core.buffer import NDArrayLike
    from zarr.core.chunk_grids import ChunkGrid
    from zarr.core.dtype import ZDType
    from zarr.core.dtype.wrapper import TBaseDType, TBaseScalar
    from zarr.core.indexing import SelectorTuple


class _Selectable(Protocol):
    """Interface of an array that accepts all of Zarr's selections."""

    def __getitem__(self, where: SelectorTuple, /) -> Array: ...


class SyncGetter(Protocol):
    """Interface of zarr's fused pipeline to read the bytes of one chunk."""

    def get_sync(
        self, prototype: BufferPrototype, byte_range: RangeByteRequest | None = None
    ) -> Buffer | None:
        """Return all bytes of a chunk or a range of them; None if there is no chunk."""


Direction: TypeAlias = Literal["encode", "decode"]

# Samples per launch that fill a large device, for codecs without their own value. In a codec of
# images, each band of a block is a thread. Blocks of 224 x 128 x 256 samples of 16 bits are then
# 256 warps, and four parallel launches give each scheduler (528 on an H200) two.
LAUNCH_BYTES = 512 << 20


@dataclass(frozen=True, init=False)
class BlockCodec(NamedCodec, ArrayBytesCodec, ArrayBytesCodecPartialDecodeMixin):
    """Base class of array codecs whose encoded chunk is a frame of blocks (SPEC.md of core).

    A subclass sets the class attributes, and its `plan` returns blocks and lanes for a shape, dtype
    and parameters. `encode_chunk` and `decode_chunk` are the hooks for other cases. Its keywords
    are the fields of `params_type`.

    It validates the dtype and shape that the codecs before it produce, not the array's.

    CorruptChunk and NewerFormat name store and chunk if Zarr provides them: in every read of an
    array whose last codec this is. Behind a compressor, and when part of a chunk is rewritten, Zarr
    passes only bytes. Inside a shard it passes only the chunk's coordinates.

    Attributes
    ----------
    codec_id, version : codec id and codec version in its frames, from its SPEC.md
    """

    params: Parameters
    is_fixed_size = False
    codec_id: ClassVar[int]
    version: ClassVar[int]

    def coder(self, shape: Iterable[int], dtype: npt.DTypeLike) -> ChunkCoder:
        """Return the coder for chunks of this shape and dtype; raise BadParams if there is none."""
        # NumPy's integers equal Python's, but arithmetic of unsigned ones differs
        return _coder_of(self, tuple(map(int, shape)), np.dtype(dtype))

    @abstractmethod
    def plan(self, shape: tuple[int, ...], dtype: Dtype) -> ChunkPlan:
        """Return the division into blocks and lanes of chunks of this shape and dtype.

        It raises BadParams as `coder` does.
        """

    @abstractmethod
    def peak_bytes(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return an upper bound of the working memory to code one such chunk, in bytes."""

    def has_kernels(self, direction: Direction) -> bool:
        """Return True if the GPU can encode, or decode, with these parameters, else False."""
        return find_spec(f"{_package(type(self))}.gpu") is not None

    def launch_chunks(self, shape: tuple[int, ...], dtype: Dtype) -> int:
        """Return the number of such chunks that fill a device in one launch.

        More chunks would only take memory.
        """
        return max(1, LAUNCH_BYTES // max(1, math.prod(shape) * dtype.itemsize))

    # All chunks of a Zarr batch are one call of the backend, so one launch on a GPU. On the CPU,
    # blocks of one chunk already fill the threads. Batches have one chunk unless the configuration
    # sets more.
    def encode_chunks(self, chunks: Sequence[Array]) -> list[memoryview]:
        """Return the frames of chunks of one shape and dtype."""
        if not chunks:
            return []
        set_default_limit(config.get("threading.max_workers", None))
        return self.coder(chunks[0].shape, chunks[0].dtype).encode_all(chunks)

    def encode_chunk(self, chunk: Array) -> memoryview:
        """Return the frame of one chunk."""
        return self.encode_chunks([chunk])[0]

    def decode_chunks(self, frames: Sequence[Bytes], outs: Sequence[Array]) -> None:
        """Decode the frames of whole chunks into arrays of one shape and dtype."""
        if not outs:
            return
        set_default_limit(config.get("threading.max_workers", None))
        coder = self.coder(outs[0].shape, outs[0].dtype)
        coder.fill([coder.whole(data) for data in frames], outs)

    def decode_chunk(self, data: Bytes, out: Array) -> None:
        """Decode the frame of one chunk into `out`."""
        self.decode_chunks([data], [out])

    def validate(
        self,
        *,
        shape: tuple[int, ...],
        dtype: ZDType[TBaseDType, TBaseScalar],
        chunk_grid: ChunkGrid,
    ) -> None:
        """Raise BadParams if the codec cannot code the array's chunks.

        Codecs before this one in the chain may change shape and dtype of the chunks.
        """
        extents = getattr(chunk_grid, "chunk_shape", None)
        if extents is None:
            raise BadParams(f"{self.codec_name} needs a regular chunk grid")
        asking = sys._getframe(1).f_locals.get("self")
        if not isinstance(asking, ArrayV3Metadata):  # a codec of shards follows its own chain
            self.coder(tuple(extents), dtype.to_native_dtype())
        elif hasattr(asking, "codecs"):  # else it calls too early, and will call again
            self.coder(*handed_on(asking, tuple(extents)))

    def compute_encoded_size(self, input_byte_length: int, chunk_spec: ArraySpec) -> int:
        """Raise NotImplementedError: the size depends on the data."""
        raise NotImplementedError

    def evolve_from_array_spec(self, array_spec: ArraySpec) -> Self:
        """Return self; raise DeviceError if an array is opened for the GPU and there is none."""
        if issubclass(array_spec.prototype.nd_buffer, gpu.NDBuffer):
            cupy()
        return self

    async def encode(
        self, chunks_and_specs: Iterable[tuple[NDBuffer | None, ArraySpec]]
    ) -> Iterable[Buffer | None]:
        """Encode a batch of chunks in one call of the backend; missing chunks (None) stay None."""
        return await asyncio.to_thread(self._encode_batch, list(chunks_and_specs))

    async def decode(
        self, chunks_and_specs: Iterable[tuple[Buffer | None, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Decode a batch of chunks in one call of the backend; missing chunks (None) stay None."""
        return await asyncio.to_thread(self._decode_batch, list(chunks_and_specs))

    async def decode_partial(
        self, batch_info: Iterable[tuple[ByteGetter, SelectorTuple, ArraySpec]]
    ) -> Iterable[NDBuffer | None]:
        """Fetch and decode the blocks that selections read, those of all chunks in one call."""
        batch = list(batch_info)
        reads = [_PartialRead(self, *item) for item in batch]
        gate = asyncio.Semaphore(config.get("async.concurrency"))
        pairs = zip(reads, batch, strict=True)
        await asyncio.gather(*(_fetch_all(read, getter, gate) for read, (getter, *_) in pairs))
        return await asyncio.to_thread(_decoded, reads)

    def _encode_batch(
        self, batch: Sequence[tuple[NDBuffer | None, ArraySpec]]
    ) -> list[Buffer | None]:
        chunks = [_handed(chunk, spec) for chunk, spec in batch if chunk is not None]
        frames = iter(self.encode_chunks(chunks))
        return [None if chunk is None else _frame(next(frames), spec) for chunk, spec in batch]

    def _decode_batch(
        self, batch: Sequence[tuple[Buffer | None, ArraySpec]]
    ) -> list[NDBuffer | None]:
        outs = [None if data is None else _empty(spec) for data, spec in batch]
        frames = [_host(data) for data, _ in batch if data is not None]
        self.decode_chunks(frames, [out for out in outs if out is not None])
        pairs = zip(outs, batch, strict=True)
        return [None if out is None else _nd_buffer(out, spec) for out, (_, spec) in pairs]

    # The fused pipeline of zarr >= 3.4 processes single chunks. It reads them whole unless it finds
    # `_decode_partial_sync`.
    def _encode_sync(self, chunk: NDBuffer, spec: ArraySpec) -> Buffer | None:
        return self._encode_batch([(chunk, spec)])[0]

    def _decode_sync(self, data: Buffer, spec: ArraySpec) -> NDBuffer:
        return _present(self._decode_batch([(data, spec)])[0])

    async def _encode_single(self, chunk: NDBuffer, spec: ArraySpec) -> Buffer | None:
        return await asyncio.to_thread(self._encode_sync, chunk, spec)

    async def _decode_single(self, data: Buffer, spec: ArraySpec) -> NDBuffer:
        return await asyncio.to_thread(self._decode_sync, data, spec)

    def _decode_partial_sync(
        self, byte_getter: SyncGetter, selection: SelectorTuple, spec: ArraySpec
    ) -> NDBuffer | None:
        read = _PartialRead(self, byte_getter, selection, spec)
        while read.wanted is not None:
            get = partial(byte_getter.get_sync, prototype=read.prototype)
            read.advance([get(byte_range=_request(wish)) for wish in read.wanted])
        return _decoded([read])[0]


@lru_cache(maxsize=64)  # computing it costs as much as decoding a small chunk
def _coder_of(codec: BlockCodec, shape: tuple[int, ...], dtype: Dtype) -> ChunkCoder:
    plan, kind = codec.plan(shape, dtype), type(codec)
    layout = plan.layout(kind.codec_id, kind.version)
    return ChunkCoder(kind.codec_name, _package(kind), codec.params, dtype, plan, layout)


def _package(kind: type[BlockCodec]) -> str:
    """Return the dotted name of the package with a codec's backends."""
    return kind.__module__.rpartition(".")[0]


class _PartialRead:
    """Partial read of a chunk in progress: its next requests or, at the end, its result.

    `wanted` has the requested byte ranges, and is None at the end.
    """

    def __init__(
        self,
        codec: BlockCodec,
        getter: ByteGetter | SyncGetter,
        selection: SelectorTuple,
        spec: ArraySpec,
    ) -> None:
        set_default_limit(config.get("threading.max_workers", None))
        self.coder = codec.coder(spec.shape, spec.dtype.to_native_dtype())
        self.reader = self.coder.read(selection, _origin(getter))
        self.selection, self.spec = selection, spec
        # Frames are parsed on the host, but inside a shard zarr accepts one kind of buffer only.
        in_store = hasattr(getter, "store")
        self.prototype = host_prototype if in_store else spec.prototype
        self.wanted: list[Range | None] | None = next(self.reader)
        self.fetched: Runs | None = None

    def advance(self, data: list[Buffer | None]) -> None:
        """Process the bytes of the requests `wanted`; errors name store and chunk."""
        try:
            self.wanted = self.reader.send([None if b is None else _host(b) for b in data])
        except StopIteration as end:
            self.wanted, self.fetched = None, end.value


async def _fetch_all(read: _PartialRead, getter: ByteGetter, gate: asyncio.Semaphore) -> None:
    # at most as many in parallel as zarr itself sends: a scattered selection has many ranges
    async def one(wish: Range | None) -> Buffer | None:
        async with gate:
            return await getter.get(read.prototype, _request(wish))

    while read.wanted is not None:
        data = await asyncio.gather(*(one(wish) for wish in read.wanted))
        await asyncio.to_thread(read.advance, data)


def _decoded(reads: Sequence[_PartialRead]) -> list[NDBuffer | None]:
    """Decode the fetched blocks of all reads in one call; return the selections, or None.

    It is None for chunks that do not exist.
    """
    there = [(read, read.fetched) for read in reads if read.fetched is not None]
    outs = [_empty(read.spec) for read, _ in there]  # untouched pages are never committed
    if there:
        there[0][0].coder.fill([fetched for _, fetched in there], outs)
    left = iter(outs)
    return [None if read.fetched is None else _selected(next(left), read) for read in reads]


def handed_on(array: ArrayV3Metadata, chunk: tuple[int, ...]) -> tuple[tuple[int, ...], Dtype]:
    """Return shape and dtype that the serializer gets for a chunk, after the codecs before it.

    zarr calls `validate` with values of the array (always before 3.2), or with the chain's dtype
    and the array's chunks. Neither includes all changes by codecs before this one: transposing,
    casting, packing. Only the calling metadata object knows the whole chain.
    """
    order = ArrayConfig("C", False)
    spec = ArraySpec(chunk, array.data_type, array.fill_value, order, host_prototype)
    for codec in array.codecs:
        if isinstance(codec, ArrayBytesCodec):
            break
        spec = codec.resolve_metadata(spec)
    return spec.shape, spec.dtype.to_native_dtype()


def _frame(data: memoryview, spec: ArraySpec) -> Buffer:
    """Convert a frame to zarr's buffer, in host memory even for a GPU array, as stores are."""
    on_device = issubclass(spec.prototype.buffer, gpu.Buffer)
    return (host_prototype if on_device else spec.prototype).buffer.from_bytes(data)


def _request(wish: Range | None) -> RangeByteRequest | None:
    return None if wish is None else RangeByteRequest(*wish)


def _host(buffer: Buffer) -> npt.NDArray[np.uint8]:
    return to_host(buffer.as_array_like()).view(np.uint8)


def _empty(spec: ArraySpec) -> Array:
    dtype = spec.dtype.to_native_dtype()
    buffer = spec.prototype.nd_buffer.empty(spec.shape, dtype, spec.order)
    return _array(buffer)


def _array(buffer: NDBuffer) -> Array:
    """Return the NumPy or CuPy array of a buffer; Zarr's type declares less than these have."""
    return cast(Array, buffer.as_ndarray_like())


def _handed(buffer: NDBuffer, spec: ArraySpec) -> Array:
    """Return the chunk to encode, reshaped if filters of numcodecs have flattened it."""
    flat = buffer.shape == (math.prod(spec.shape),)
    return _array(buffer.reshape(spec.shape) if flat else buffer)


def _nd_buffer(array: Array, spec: ArraySpec) -> NDBuffer:
    return spec.prototype.nd_buffer.from_ndarray_like(cast("NDArrayLike", array))


def _selected(array: Array, read: _PartialRead) -> NDBuffer:
    return _nd_buffer(cast(_Selectable, array)[read.selection], read.spec)


def _present(buffer: NDBuffer | None) -> NDBuffer:
    assert buffer is not None
    return buffer


def _origin(getter: object) -> Origin:
    """Return store and chunk of a getter, for errors.

    A chunk inside a shard has no path, only its coordinates.
    """
    if store := getattr(getter, "store", None):
        return Origin(str(store), str(getattr(getter, "path", "")))
    coordinates = getattr(getter, "chunk_coords", None)
    return Origin() if coordinates is None else Origin(chunk=f"{coordinates} of a shard")
