"""Files that stay open from one chunk to the next, and are closed when a public call returns.

A library that has a file open for reading refuses to open it for writing in the same process, and
the locks of HDF5 and casacore keep other processes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import _lru_cache_wrapper, lru_cache, wraps
from threading import Lock
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from distributed import Client

P = ParamSpec("P")
R = TypeVar("R")

_CACHES: list[_lru_cache_wrapper[object]] = []
_LOCK = Lock()
CLOSE_SECONDS = 5.0  # that a worker has to answer
_running = 0  # public calls: the last one closes the files of all


def kept_open(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Keep what a function opens, at most so many files, until the public call returns.

    It is called by position, and takes what tells a changed file from that before. A file closes
    once nobody holds what the function returned, so one that is being read stays whole.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        cached = lru_cache(maxsize=most)(function)
        _CACHES.append(cached)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return cached(*args, **kwargs)  # type: ignore[arg-type]

        return call

    return decorate


def close_files() -> None:
    """Let go of all files of this process that are kept open."""
    for cache in _CACHES:
        cache.cache_clear()


def closes_files(function: Callable[P, R]) -> Callable[P, R]:
    """Close what a public call opened, here and on the workers of its `client`, at its end."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        with _open_until_return(kwargs.get("client")):
            return function(*args, **kwargs)

    return call


@contextmanager
def _open_until_return(client: object) -> Iterator[None]:
    global _running
    with _LOCK:
        _running += 1
    try:
        yield
    finally:
        with _LOCK:
            _running -= 1
            is_last = _running == 0
        if is_last:
            close_files()
        if client is not None:
            _close_on_workers(cast("Client", client))


def _close_on_workers(client: Client) -> None:
    """Let go of them there, too: not for long, since a worker may hang and a scheduler be lost."""
    with suppress(Exception):
        client.sync(client._run, close_files, on_error="ignore", callback_timeout=CLOSE_SECONDS)
