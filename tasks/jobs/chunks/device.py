"""Encoding and decoding of many chunks at once on the GPU, with the same bytes as on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar, cast

from zarr.core.buffer import Buffer, default_buffer_prototype

from gangsaw.codecs.core.arrays import Array, NumpyArray
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import pinned
from gangsaw.codecs.core.cuda.streams import Copies, empty
from gangsaw.codecs.core.errors import DeviceError, GangsawError
from gangsaw.codecs.core.zarr.block_codec import LAUNCH_BYTES, BlockCodec, Direction
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling.worker_pools import check_device
from gangsaw.tasks.store.arrays.chunks import ArrayCoder

TASKS = 32  # tasks of a small job: several per slot, so that their steps overlap
COPIES = 3  # copies of a task's samples in host memory: as read, as encoded blocks, as frames

T = TypeVar("T")
Result = TypeVar("Result")


def require_device(device: str) -> None:
    """Raise DeviceError with the missing part if this process cannot work on `device`.

    Raises BadParams for an unknown device.
    """
    if check_device(device) == "gpu":
        try:
            cupy()
        except DeviceError as error:  # text after the missing part is about arrays
            missing = str(error).partition("; ")[0]
            raise DeviceError(f"{missing}; or work on device cpu") from error


@dataclass(frozen=True)
class DeviceShare:
    """Amount of work that one task processes on a GPU.

    Attributes
    ----------
    batches : number of batches processed at once
    peak_bytes : host memory for their samples, in bytes
    """

    batches: int
    peak_bytes: int


def share_of_device(
    n_batches: int, batch_bytes: int, launch_batches: int | None = None
) -> DeviceShare:
    """Return the amount of work of one task on a GPU.

    Parameters
    ----------
    n_batches : number of batches of the job
    batch_bytes : raw bytes of a batch
    launch_batches : number of batches that fill a device in one launch, by the codec; None takes
        batches of LAUNCH_BYTES together
    """
    enough = LAUNCH_BYTES // max(1, batch_bytes) if launch_batches is None else launch_batches
    batches = batches_per_task(n_batches, enough)
    return DeviceShare(batches, COPIES * batches * batch_bytes)


def batches_per_task(n_batches: int, launch_batches: int) -> int:
    """Return the number of batches that one task processes on a GPU.

    Parameters
    ----------
    n_batches : number of batches of the job
    launch_batches : number of batches that fill a device in one launch
    """
    return max(1, min(launch_batches, n_batches // TASKS))


def launch_batches(coder: ArrayCoder, batch_chunks: int, direction: Direction) -> int | None:
    """Return the number of batches that fill a device, by the codec of the array.

    None means that the chunks have no GPU kernel and are processed on the CPU.

    Parameters
    ----------
    coder : coder of the array
    batch_chunks : number of chunks of a batch
    direction : "encode" or "decode"
    """
    codec = _kernels_of(coder, direction)
    if codec is None or not coder.chunk_bytes:
        return None
    return max(1, codec.launch_chunks(coder.grid.chunks, coder.dtype) // max(1, batch_chunks))


def _kernels_of(coder: ArrayCoder, direction: Direction) -> BlockCodec | None:
    """Return the codec with GPU kernels if it alone encodes the chunks; else None."""
    array = coder.array
    alone = not (array.shards or array.filters or array.compressors)
    codec = array.serializer
    has_kernels = isinstance(codec, BlockCodec) and codec.has_kernels(direction)
    return cast("BlockCodec", codec) if alone and has_kernels else None


@lru_cache(maxsize=64)
def runs_on_gpu(metadata: bytes, direction: Direction) -> bool:
    """Return True if the only codec of the array has GPU kernels for this direction."""
    return _kernels_of(ArrayCoder(metadata), direction) is not None


def device_of_most(
    arrays: Mapping[str, bytes], raw_bytes: Mapping[str, int], options: Options | None
) -> Options | None:
    """Return options with the device that can encode the larger part of mixed batches.

    If most bytes have no kernel, the CPU is chosen, since only a few threads share a GPU and most
    cores would be idle.

    Parameters
    ----------
    arrays : zarr.json of each array, by name
    raw_bytes : raw bytes of each array in a sample
    """
    if options is None or options.device != "gpu":
        return options
    there = sum(raw_bytes[name] for name, own in arrays.items() if runs_on_gpu(own, "encode"))
    return options if 2 * there >= sum(raw_bytes.values()) else replace(options, device="cpu")


def host_notes(
    arrays: Mapping[str, bytes],
    direction: Direction,
    options: Options | None,
    used: Options | None = None,
) -> tuple[str, ...]:
    """Return notes on the arrays that are processed on the host although a GPU was requested.

    Parameters
    ----------
    arrays : zarr.json of each array, by name
    direction : "encode" or "decode"
    options : requested options
    used : options that `device_of_most` chose instead; None if it did not choose
    """
    if options is None or options.device != "gpu":
        return ()
    left = [name for name, metadata in arrays.items() if not runs_on_gpu(metadata, direction)]
    told = [f"{direction}d on the host, for no kernel does it: {', '.join(left)}"] if left else []
    if used is not None and used.device != "gpu" and (others := sorted(arrays.keys() - left)):
        told.append(f"{direction}d on the host, with the larger arrays: {', '.join(others)}")
    return tuple(told)


class DeviceCoder:
    """Encoder and decoder of an array's chunks on the GPU of this process.

    Parameters
    ----------
    metadata : zarr.json of the array; `runs_on_gpu` must be true for it

    Attributes
    ----------
    host : coder on the CPU, with the grid and keys of the chunks
    """

    def __init__(self, metadata: bytes) -> None:
        self.host = ArrayCoder(metadata)
        array = self.host.array
        self._shape, self._fill = array.chunks, array.fill_value
        codec = cast("BlockCodec", array.serializer)
        self._coder = codec.coder(self._shape, self.host.dtype)

    def upload(self, samples: NumpyArray, copies: Copies) -> DeviceArray:
        """Return the samples of a chunk on the device, padded at the edge of the array."""
        chunk = pinned(self._shape, self.host.dtype)
        if samples.shape != self._shape:
            chunk[...] = self._fill  # as Zarr does
        chunk[tuple(map(slice, samples.shape))] = samples
        return copies.to_device(chunk)

    def encode(self, chunks: Sequence[Array]) -> list[Buffer]:
        """Return the encoded bytes of chunks on the device, in one launch."""
        as_buffer = default_buffer_prototype().buffer.from_bytes
        return [as_buffer(frame) for frame in self._coder.encode_all(chunks)]

    def decode(self, stored: Sequence[Buffer]) -> list[DeviceArray]:
        """Return whole chunks on the device; raise CorruptChunk if any bytes are wrong."""
        fetched = [self._coder.whole(data.as_numpy_array()) for data in stored]
        chunks = [empty(self._shape, self.host.dtype) for _ in stored]
        self._coder.fill(fetched, chunks)
        return chunks

    def clip(self, number: int, chunk: NumpyArray) -> NumpyArray:
        """Return the samples of a chunk without the padding at the edge of the array."""
        return chunk[tuple(slice(s.stop - s.start) for s in self.host.grid.region(number))]


def process_or_split(
    work: Callable[[Sequence[T]], Sequence[Result]],
    items: Sequence[T],
    failed: Callable[[int, GangsawError], Result],
) -> list[Result]:
    """Process all items in one call; if that fails, process halves, down to the faulty item.

    Parameters
    ----------
    work : function of a list of items that returns their results
    items : items to process
    failed : returns the result for a faulty item, given its index and its error, or raises
    """
    results: list[Result] = []
    waiting = [range(len(items))]
    while waiting:
        part = waiting.pop()
        try:
            results += work([items[i] for i in part]) if part else []
        except GangsawError as error:
            if len(part) == 1:
                results.append(failed(part[0], error))
            else:
                waiting += [part[len(part) // 2 :], part[: len(part) // 2]]
    return results
