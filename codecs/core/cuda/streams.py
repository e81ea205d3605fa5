"""A thread's own way to the GPU: its stream, and page-locked memory for copies that overlap.

Threads that each work on a stream of their own let the device copy for one while it computes for
another; besides its multiprocessors it has an engine for copies in each direction.
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
    """Copies between host and device on one stream, which return while they are under way."""

    def __init__(self, stream: DeviceStream) -> None:
        self.stream = stream
        self._held: list[object] = []  # what the device still reads: freed, it would be used again

    def to_device(self, samples: NumpyArray) -> DeviceArray:
        """Return a copy on the device of page-locked samples, for work on the same stream."""
        array: DeviceArray = cupy().empty(samples.shape, samples.dtype)
        array.set(samples, stream=self.stream)  # without a stream it would wait
        self._held.append(samples)
        return array

    def to_host(self, array: DeviceArrayOf[ScalarT]) -> npt.NDArray[ScalarT]:
        """Return a page-locked copy of a contiguous array, whole once the stream was waited for."""
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
    """Send the work of the body to this thread's stream, and wait for its end.

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
    """The stream of this thread on the current device: one, since pools hold memory by stream."""
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
