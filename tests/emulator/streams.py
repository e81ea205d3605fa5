"""Streams, events and the device of the stand-in for CuPy.

Work of a stream is done as late as CUDA may do it: when somebody waits for the stream, or for an
event recorded on it. So a missing wait shows as old data.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from emulator import pools

Work = Callable[[], Any]
_thread = threading.local()


class Stream:
    """`cupy.cuda.Stream`."""

    null: ClassVar[Stream]
    _all: ClassVar[weakref.WeakSet[Stream]] = weakref.WeakSet()

    def __init__(
        self,
        null: bool = False,
        non_blocking: bool = False,
        ptds: bool = False,
        priority: Any = None,
    ) -> None:
        self.lock = threading.RLock()
        self.waiting: list[Work] = []
        self.non_blocking = non_blocking
        self.device_id = 0
        self.ptr = 0 if null else id(self)
        self._before: list[Stream] = []
        self._all.add(self)

    def add(self, work: Work) -> None:
        """Queue work; the null stream waits for all blocking ones and does it at once."""
        if self.ptr:
            with self.lock:
                self.waiting.append(work)
            return
        for other in list(self._all):
            if not other.non_blocking:
                other.synchronize()
        work()

    def synchronize(self) -> None:
        with self.lock:
            while self.waiting:
                self.waiting.pop(0)()

    @property
    def done(self) -> bool:
        self.synchronize()
        return True

    def wait_event(self, event: Event) -> None:
        self.add(event.synchronize)

    def record(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def launch_host_func(self, callback: Callable[[Any], Any], arg: Any) -> None:
        self.add(lambda: callback(arg))

    def use(self) -> Stream:
        _thread.stream = self
        return self

    def __enter__(self) -> Stream:
        self._before.append(current())
        return self.use()

    def __exit__(self, *_: object) -> None:
        self._before.pop().use()


Stream.null = Stream(null=True)


def current(device_id: int = -1) -> Stream:
    """`cupy.cuda.get_current_stream`."""
    stream: Stream = getattr(_thread, "stream", Stream.null)
    return stream


def chosen(stream: Stream | None) -> Stream:
    """Return the stream that is given, or the current one."""
    return current() if stream is None else stream


class Event:
    """`cupy.cuda.Event`."""

    def __init__(
        self, block: bool = False, disable_timing: bool = False, interprocess: bool = False
    ) -> None:
        self.timed = not disable_timing
        self.time = 0.0
        self._stream: Stream | None = None
        self._pending = False

    def record(self, stream: Stream | None = None) -> None:
        self._stream, self._pending = chosen(stream), True
        self._stream.add(self._reached)

    def _reached(self) -> None:
        self.time, self._pending = time.perf_counter(), False

    def synchronize(self) -> None:
        """Do the work of the stream up to the record."""
        stream = self._stream
        if stream is None:
            return
        with stream.lock:
            while self._pending and stream.waiting:
                stream.waiting.pop(0)()

    @property
    def done(self) -> bool:
        self.synchronize()
        return True

    query = done


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """`cupy.cuda.get_elapsed_time`: milliseconds."""
    return (end_event.time - start_event.time) * 1e3


class Device:
    """`cupy.cuda.Device`."""

    compute_capability = "90"
    attributes: ClassVar = {"ClockRate": 1_000_000, "MultiProcessorCount": 2}
    pci_bus_id = "0000:00:00.0"

    def __init__(self, device: Any = None) -> None:
        self.id = 0 if device is None else int(device)

    def synchronize(self) -> None:
        """Do the work of all streams."""
        for stream in list(Stream._all):
            stream.synchronize()

    def use(self) -> Device:
        return self

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.id == other.id

    def __hash__(self) -> int:
        return self.id

    def __int__(self) -> int:
        return self.id

    @property
    def mem_info(self) -> tuple[int, int]:
        memory = pools.device_memory
        return memory.total - memory.used, memory.total
