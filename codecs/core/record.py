"""Recorder of all encode and decode operations, for subscribers and totals."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Operation: TypeAlias = Literal["encode", "decode"]
Key: TypeAlias = tuple[str, Operation, str]  # codec, operation, backend
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Event:
    """Record of one encode or decode operation on a chunk, or on a part of one.

    Attributes
    ----------
    codec : the codec's Zarr name
    operation, backend : kind of operation (encode or decode), and backend (cpu or gpu)
    raw_bytes, encoded_bytes : bytes of the array, and of the frame or its blocks
    seconds : duration by the wall clock
    """

    codec: str
    operation: Operation
    backend: str
    raw_bytes: int
    encoded_bytes: int
    seconds: float


@dataclass
class Totals:
    """Sums over all events with the same codec, operation and backend.

    `seconds` of parallel threads add up.
    """

    count: int = 0
    raw_bytes: int = 0
    encoded_bytes: int = 0
    seconds: float = 0.0


_lock = threading.Lock()
_totals: dict[Key, Totals] = {}  # updated in place, as every encode and decode changes them
_listeners: list[Callable[[Event], object]] = []


def record(key: Key, raw_bytes: int, encoded_bytes: int, seconds: float) -> None:
    """Add an event to the totals and pass it to all listeners; thread-safe.

    `key` is codec, operation and backend. An error in a listener is logged, and does not affect the
    codec.
    """
    with _lock:
        totals = _totals.get(key)
        if totals is None:
            totals = _totals[key] = Totals()
        totals.count += 1
        totals.raw_bytes += raw_bytes
        totals.encoded_bytes += encoded_bytes
        totals.seconds += seconds
        listeners = tuple(_listeners)
    for listener in listeners:
        try:
            listener(Event(*key, raw_bytes, encoded_bytes, seconds))
        except Exception:
            log.exception("a listener of the recorder failed")


class Stopwatch:
    """Timer of one operation or batch, from its construction to its report."""

    def __init__(self, codec: str, operation: Operation, backend: str) -> None:
        self.key: Key = (codec, operation, backend)
        self.start = time.perf_counter()

    def report(self, sizes: Sequence[tuple[int, int]]) -> None:
        """Record an event for each (raw bytes, encoded bytes); they share the time."""
        seconds = time.perf_counter() - self.start
        for raw_bytes, encoded_bytes in sizes:
            record(self.key, raw_bytes, encoded_bytes, seconds / len(sizes))


def snapshot() -> dict[Key, Totals]:
    """Return totals by codec, operation and backend since the start or the last reset."""
    with _lock:
        return {key: replace(totals) for key, totals in _totals.items()}


def reset() -> None:
    """Clear all totals of events; listeners stay."""
    with _lock:
        _totals.clear()


def subscribe(listener: Callable[[Event], object]) -> Callable[[], None]:
    """Call `listener` with each event, in the thread of the operation; return its removal.

    The returned function ends the calls.
    """
    with _lock:
        _listeners.append(listener)

    def unsubscribe() -> None:
        with _lock:
            if listener in _listeners:
                _listeners.remove(listener)

    return unsubscribe
