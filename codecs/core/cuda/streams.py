"""CUDA stream and page-locked memory of a thread, for copies that overlap with kernels.

If each thread uses its own stream, the device copies for one thread while it computes for another:
it has a copy engine for each direction besides its multiprocessors.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray, ScalarT
from gangsaw.codecs.core.cuda.cupy_types import (
    DeviceArray,
    DeviceArrayOf,
    DeviceStream,
    ThreadStream,
)
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.cuda.launch import device_errors, pinned

_own = threading.local()


class Copies:
    """Asynchronous copies between host and device on one stream."""

    def __init__(self, stream: DeviceStream) -> None:
        self.stream = stream
        # arrays that the device still reads: freed memory would be reused
        self._held: list[object] = []

    def to_device(self, samples: NumpyArray) -> DeviceArray:
        """Start to copy page-locked samples to the device; return the copy, for this stream."""
        array: DeviceArray = cupy().empty(samples.shape, samples.dtype)
        array.set(samples, stream=self.stream)  # without a stream the call would wait
        self._held.append(samples)
        return array

    def to_host(self, array: DeviceArrayOf[ScalarT]) -> npt.NDArray[ScalarT]:
        """Start to copy a contiguous array; return the page-locked copy, complete after `wait`."""
        out = pinned(array.shape, array.dtype)
        array.get(stream=self.stream, out=out, blocking=False)
        self._held.append(array)
        return out

    def wait(self) -> None:
        """Wait for the end of all work on the stream."""
        with device_errors("the work on the GPU"):
            self.stream.synchronize()
        self._held.clear()


@contextmanager
def own_stream() -> Iterator[Copies]:
    """Run the work of the body on this thread's stream, and wait for its end.

    Raises
    ------
    DeviceError : there is no device, or it failed meanwhile
    """
    with _stream() as stream:
        copies = Copies(stream)
        try:
            yield copies
        finally:
            copies.wait()


def _stream() -> ThreadStream:
    """Return this thread's stream on the current device: one, as pools keep memory per stream."""
    cuda = cupy().cuda
    device = cuda.runtime.getDevice()
    streams: dict[int, ThreadStream] = _own.__dict__.setdefault("streams", {})
    if device not in streams:
        streams[device] = cuda.Stream(non_blocking=True)
    return streams[device]


def empty(shape: tuple[int, ...], dtype: npt.DTypeLike) -> DeviceArray:
    """Return an uninitialised array on the device."""
    array: DeviceArray = cupy().empty(shape, dtype)
    return array
