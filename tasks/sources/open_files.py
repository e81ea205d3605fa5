"""Cache of open files: they stay open between chunks, and are closed when a public call returns.

A library that has a file open for reading refuses to open it for writing in the same process. The
locks of HDF5 and casacore exclude other processes.
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
CLOSE_SECONDS = 5.0  # time limit for the reply of a worker
_running = 0  # public calls in progress: the last one closes the files of all


def cache_open_files(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache up to `most` open files that a function returns, until the public call returns.

    The function is called by position, with an argument that changes with the file. A file closes
    when nothing refers to the result any more, so a file that is being read stays open.
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
    """Empty the caches of open files in this process."""
    for cache in _CACHES:
        cache.cache_clear()


def closes_files(function: Callable[P, R]) -> Callable[P, R]:
    """Close the files that a public call opened, here and on the workers of its `client`."""

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
    """Empty the caches of the workers, with a time limit: a worker or scheduler may hang."""
    with suppress(Exception):
        client.sync(client._run, close_files, on_error="ignore", callback_timeout=CLOSE_SECONDS)
