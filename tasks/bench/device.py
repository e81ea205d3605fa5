"""Benchmark of a codec on a GPU: kernels timed by events, whole calls, and calls on host arrays.

Without a device every row exists without a value, so that a results page shows what is missing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from types import ModuleType
from typing import TypeVar

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray, DeviceStream
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import free_device_bytes, pinned, timed_launches
from gangsaw.codecs.core.cuda.streams import own_stream
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.codecs.core.zarr.block_codec import LAUNCH_BYTES, BlockCodec
from gangsaw.tasks.bench.host import benchmarks_of
from gangsaw.tasks.engine.scheduling.worker_pools import SLOTS
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.choice.choose import choose_layout

BATCH_BYTES = 8 << 30  # bytes of samples: 160 times the 50 MB of an H200's second-level cache
SHARE = 8  # samples take 1/8 of free device memory; codewords, frames and copies the rest
INT_LANES = 64  # 32-bit integer operations per clock and multiprocessor, sm_80 to sm_100
CALL_SECONDS = 1.0  # approximate duration at which a batch stops growing before BATCH_BYTES
COPY_BYTES = 1 << 30


@dataclass(frozen=True)
class Figure:
    """One row of the GPU benchmark.

    Attributes
    ----------
    what : description of the measurement
    unit : unit of the value
    target : requested value, with its sense (">= 30"), or ""
    value : measured value; None if not measured
    note : limiting factor, or method of measurement
    """

    what: str
    unit: str
    target: str = ""
    value: float | None = None
    note: str = ""

    def row(self) -> tuple[str, ...]:
        """Return the figure as a row of a table."""
        value = "not measured" if self.value is None else f"{self.value:.4g} {self.unit}"
        return (self.what, value, self.target, self.note)


@dataclass(frozen=True)
class Timing:
    """Median seconds of encoding or of decoding.

    Attributes
    ----------
    samples, moved_bytes : samples of one round; least bytes that the device reads and writes
    kernels : seconds of the kernels by CUDA events; None if streams overlap
    whole : wall time of the call in seconds
    """

    samples: int
    moved_bytes: int
    whole: float
    kernels: float | None = None

    @property
    def rate(self) -> float:
        """Gsamples/s of the kernels if they were timed, else of the call."""
        return self.samples / (self.kernels or self.whole) / 1e9

    def note(self, unit: str = "Gsamples", in_sample: int = 1) -> str:
        """Return a note with the rate of the whole call; a sample counts as `in_sample` units."""
        if self.kernels is None:
            return "wall clock"
        amount = self.samples * in_sample / 1e9
        whole = f"{amount / self.whole:.4g} {unit}/s the whole call"
        return f"kernels by events, on {amount:.3g} {unit}; {whole}"


Item = TypeVar("Item")
Both = tuple[Timing, Timing]  # encode, decode
Measured = tuple[float | None, str]  # value, None if not measured, and note


def launch_seconds(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return median wall time and kernel time of a call, after one warm-up call."""
    whole, kernels = zip(*[_round(work) for _ in range(1 + rounds)][1:], strict=True)
    return statistics.median(whole), statistics.median(kernels)


def _round(work: Callable[[], object]) -> tuple[float, float]:
    stream: DeviceStream = cupy().cuda.get_current_stream()
    with timed_launches() as kernels:
        began = time.perf_counter()
        work()
        stream.synchronize()
        return time.perf_counter() - began, kernels()


def wall_seconds(work: Callable[[], object], rounds: int) -> float:
    """Return the median wall time of a call by several threads, in rounds / 4 calls, at least 3."""
    spans = []
    for _ in range(max(3, rounds // 4)):
        began = time.perf_counter()
        work()
        spans.append(time.perf_counter() - began)
    return statistics.median(spans)


class ChunkBench:
    """Timings of a codec on a GPU, each measured at first use.

    Parameters
    ----------
    coder, chunks : coder of any codec, and C-ordered arrays of its chunk shape
    rounds : timed rounds, after one that compiles and warms up
    batch_bytes : largest number of bytes of samples in a batch
    """

    def __init__(
        self,
        coder: ChunkCoder,
        chunks: Sequence[NumpyArray],
        rounds: int = 20,
        batch_bytes: int = BATCH_BYTES,
    ) -> None:
        self.cupy: ModuleType = cupy()
        self.coder, self.chunks = coder, chunks
        self.rounds, self.batch_bytes = rounds, batch_bytes

    @cached_property
    def batch(self) -> Both:
        """Timings of chunks in device memory: as many as fill a batch, or about CALL_SECONDS."""
        return self._grown(self._encoded), self.batch_decoded

    @cached_property
    def batch_decoded(self) -> Timing:
        """Timing of decoding a batch; used without `batch` if the CPU encodes."""
        return self._grown(self._decoded)

    @cached_property
    def alone(self) -> Both:
        """Timings of the chunks of one scene in a single call."""
        n = len(self.chunks)
        return self._encoded(n, self.rounds), self._decoded(n, self.rounds)

    def _grown(self, timed: Callable[[int, int], Timing]) -> Timing:
        """Return the timing of a full batch, after doubling the batch from small sizes.

        The doubling stops at calls of CALL_SECONDS: with the full size, slow codecs took minutes.
        """
        free: int = free_device_bytes() or self.batch_bytes * SHARE
        most = max(1, min(self.batch_bytes, free // SHARE) // self.chunks[0].nbytes)
        n = min(most, len(self.chunks))
        while n < most and timed(n, 1).whole < CALL_SECONDS / 2:
            n = min(most, 2 * n)
        return timed(n, self.rounds)

    def _encoded(self, n: int, rounds: int) -> Timing:
        with own_stream():
            held = [self.cupy.asarray(chunk) for chunk in self._repeated(self.chunks, n)]
            seconds = launch_seconds(lambda: self.coder.encode_all(held), rounds)
        return self._timing(n, seconds)

    def _decoded(self, n: int, rounds: int) -> Timing:
        frames, chunks = self._repeated(self._frames, n), self._repeated(self.chunks, n)
        with own_stream():
            outs = [self.cupy.empty(chunk.shape, chunk.dtype) for chunk in chunks]
            seconds = launch_seconds(lambda: self._fill(frames, outs), rounds)
            _check(outs[-1].get(), chunks[-1])
        return self._timing(n, seconds)

    @cached_property
    def _frames(self) -> list[memoryview]:
        """Encoded frame of each chunk."""
        with own_stream():
            return self.coder.encode_all([self.cupy.asarray(chunk) for chunk in self.chunks])

    @staticmethod
    def _repeated(items: Sequence[Item], n: int) -> list[Item]:
        return [items[i % len(items)] for i in range(n)]

    def _timing(self, n: int, seconds: tuple[float, float]) -> Timing:
        chunks = self._repeated(self.chunks, n)
        moved = sum(chunk.nbytes for chunk in chunks) + sum(
            map(len, self._repeated(self._frames, n))
        )
        return Timing(sum(chunk.size for chunk in chunks), moved, *seconds)

    def _fill(self, frames: Sequence[memoryview], outs: Sequence[DeviceArray]) -> None:
        self.coder.fill([self.coder.whole(frame) for frame in frames], outs)

    @cached_property
    def hosted(self) -> Both:
        """Timings from host arrays to host frames and back, by threads with one stream each."""
        per_task = max(1, LAUNCH_BYTES // self.chunks[0].nbytes)
        tasks = [[self.chunks[i % len(self.chunks)] for i in range(per_task)]] * (4 * SLOTS)
        with ThreadPoolExecutor(SLOTS) as pool:
            frames = list(pool.map(self._to_frames, tasks))
            _check(self._to_arrays(frames[0])[-1], tasks[0][-1])
            encode = wall_seconds(lambda: list(pool.map(self._to_frames, tasks)), self.rounds)
            decode = wall_seconds(
                lambda: [len(a) for a in pool.map(self._to_arrays, frames)], self.rounds
            )
        samples = sum(chunk.size for task in tasks for chunk in task)
        return Timing(samples, 0, encode), Timing(samples, 0, decode)

    def _to_frames(self, chunks: Sequence[NumpyArray]) -> list[memoryview]:
        with own_stream() as copies:
            return self.coder.encode_all([copies.to_device(_locked(chunk)) for chunk in chunks])

    def _to_arrays(self, frames: Sequence[memoryview]) -> list[NumpyArray]:
        with own_stream() as copies:
            like = self.chunks[0]
            outs = [self.cupy.empty(like.shape, like.dtype) for _ in frames]
            self._fill(frames, outs)
            return [copies.to_host(out) for out in outs]


class Workbench(ChunkBench):
    """Benchmark of an array in chunks of the default layout, with upper bounds of the device.

    Parameters
    ----------
    sample : array for which the codec table has a codec
    rounds, batch_bytes : as in `ChunkBench`
    """

    def __init__(
        self, sample: MemoryArray, rounds: int = 20, batch_bytes: int = BATCH_BYTES
    ) -> None:
        layout = choose_layout(sample, "auto", None)
        codec = layout.codec
        if not isinstance(codec, BlockCodec):
            raise BadParams(f"no codec is for {sample.dtype.name} samples: nothing to measure")
        chunks = [np.ascontiguousarray(c) for c in _cut(sample.values, layout.chunks)]
        super().__init__(codec.coder(layout.chunks, sample.dtype), chunks, rounds, batch_bytes)
        self.codec_name = codec.codec_name

    @cached_property
    def bytes_per_second(self) -> float:
        """Measured bandwidth: bytes read and written by a copy within device memory."""
        source = self.cupy.zeros(COPY_BYTES, np.uint8)
        target = self.cupy.empty_like(source)
        cuda = self.cupy.cuda
        spans: list[float] = []
        for _ in range(1 + self.rounds):
            start, end = cuda.Event(), cuda.Event()
            start.record()
            target[...] = source
            end.record()
            end.synchronize()
            spans.append(cuda.get_elapsed_time(start, end) / 1e3)
        return 2 * COPY_BYTES / statistics.median(spans[1:])

    @cached_property
    def operations_per_second(self) -> float:
        """Peak of integer operations: multiprocessors x clock x integer lanes."""
        attributes: dict[str, int] = self.cupy.cuda.Device().attributes
        return 1e3 * attributes["ClockRate"] * attributes["MultiProcessorCount"] * INT_LANES  # kHz

    def byte_ceiling(self, timing: Timing) -> float:
        """Return Gsamples/s if every byte were moved once at full bandwidth, without other work."""
        return self.bytes_per_second * timing.samples / timing.moved_bytes / 1e9

    def instructions(self, direction: str) -> tuple[int, int] | None:
        """Return integer and total instructions per sample, if the codec declares them."""
        counted: Mapping[str, tuple[int, int]] = getattr(
            benchmarks_of(self.codec_name), "INSTRUCTIONS", {}
        )
        return counted.get(direction)


@dataclass(frozen=True)
class _Case:
    """Row of the GPU benchmark, and the function that measures its value and note.

    quick : True if its value is available as soon as the previous row was measured
    """

    what: str
    unit: str
    target: str
    measure: Callable[[Workbench], Measured]
    quick: bool = False

    def figure(self, bench: Workbench | None) -> Figure:
        """Return the row, measured if there is a workbench."""
        found = (None, "") if bench is None else self.measure(bench)
        return Figure(self.what, self.unit, self.target, *found)


def _speed(name: str, direction: int) -> Callable[[Workbench], Measured]:
    def measure(bench: Workbench) -> Measured:
        timing: Timing = getattr(bench, name)[direction]
        return timing.rate, timing.note()

    return measure


def _byte_ceiling(bench: Workbench) -> Measured:
    ceiling = bench.byte_ceiling(bench.batch[0])
    return ceiling, f"each byte once, at {bench.bytes_per_second / 1e12:.3g} TB/s of a copy"


def _operation_ceiling(direction: str) -> Callable[[Workbench], Measured]:
    """Return the measurement of Gsamples/s if every integer lane worked at every clock."""

    def measure(bench: Workbench) -> Measured:
        if (of := bench.instructions(direction)) is None:
            return None, f"nobody counted the instructions of {bench.codec_name}"
        integer, total = of
        counted = f"{integer} of {total} instructions a sample are integer operations"
        peak = f"{bench.operations_per_second / 1e12:.3g} T of these a second"
        return bench.operations_per_second / integer / 1e9, f"{counted}; {peak}"

    return measure


G = "Gsamples/s"
CASES = (
    _Case("batch of chunks, encode", G, ">= 30", _speed("batch", 0)),
    _Case("batch of chunks, decode", G, ">= 15", _speed("batch", 1), quick=True),
    _Case("host arrays to host frames", G, ">= 5", _speed("hosted", 0)),
    _Case("host frames to host arrays", G, ">= 5", _speed("hosted", 1), quick=True),
    _Case("one scene alone, encode", G, ">= 3", _speed("alone", 0)),
    _Case("one scene alone, decode", G, ">= 3", _speed("alone", 1), quick=True),
    _Case("ceiling by bytes", G, "", _byte_ceiling, quick=True),
    _Case("ceiling by integer operations, encode", G, "", _operation_ceiling("encode"), quick=True),
    _Case("ceiling by integer operations, decode", G, "", _operation_ceiling("decode"), quick=True),
)


def device_figures(bench: Workbench | None) -> Iterator[Figure]:
    """Yield all rows, measured one by one, or without values if there is no workbench."""
    return (case.figure(bench) for case in CASES)


def device_machine() -> dict[str, str]:
    """Return the names of device and driver, and the versions of CUDA and CuPy."""
    cp = cupy()
    runtime, device = cp.cuda.runtime, cp.cuda.Device()
    name = runtime.getDeviceProperties(device.id)["name"].decode()
    driver, cuda = runtime.driverGetVersion(), runtime.runtimeGetVersion()
    return {
        "device": f"{name}, sm_{device.compute_capability}",
        "driver for CUDA": _version(driver),
        "CUDA": _version(cuda),
        "cupy": cp.__version__,
    }


def _version(number: int) -> str:
    return f"{number // 1000}.{number % 1000 // 10}"


def _cut(array: NumpyArray, extents: tuple[int, ...]) -> Iterator[NumpyArray]:
    """Yield whole chunks of an array; those at its edges are filled with samples from its start."""
    starts = (range(0, n, extent) for n, extent in zip(array.shape, extents, strict=True))
    for corner in product(*starts):
        places = zip(corner, extents, array.shape, strict=True)
        yield array[np.ix_(*(np.arange(first, first + n) % all_ for first, n, all_ in places))]


def _locked(chunk: NumpyArray) -> NumpyArray:
    held = pinned(chunk.shape, chunk.dtype)
    held[...] = chunk
    return held


def _check(found: NumpyArray, wanted: NumpyArray) -> None:
    if not np.array_equal(found, wanted):
        raise JobFailed("the GPU does not give the chunk back")
