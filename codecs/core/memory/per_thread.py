"""Scratch memory of a thread, reused for each block: the system zeroes fresh memory first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, cast, overload

from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray, Scalar, ScalarT
from gangsaw.codecs.core.memory.aligned import empty_aligned

T = TypeVar("T")
MOST_BYTES = 1 << 22  # bytes of an array; longer arrays are allocated each time


class ThreadScratch(threading.local):
    """Scratch arrays by name and dtype, and cached objects by key, separate for each thread.

    They live as long as the thread: those of the pool as long as the process, some ten MiB each.
    """

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, type[Scalar] | str], NumpyArray] = {}
        self._others: dict[object, object] = {}

    @overload
    def array(self, name: str, least: int, dtype: type[ScalarT]) -> NDArray[ScalarT]: ...

    @overload
    def array(self, name: str, least: int, dtype: str) -> NumpyArray: ...

    def array(self, name: str, least: int, dtype: type[Scalar] | str) -> NumpyArray:
        """Return an aligned, uninitialised array of at least `least` items.

        Each call returns the same memory: nobody may use it when the name is requested again.
        """
        array = self._arrays.get((name, dtype))
        if array is None or array.size < least:
            array = empty_aligned(least, dtype)
            if array.nbytes <= MOST_BYTES:
                self._arrays[name, dtype] = array
        return array

    def forget(self, name: str, dtype: type[Scalar] | str) -> None:
        """Drop the reference to a scratch array; its memory stays valid for who still uses it."""
        self._arrays.pop((name, dtype), None)

    def once(self, make: Callable[[int], T], number: int) -> T:
        """Return make(number), cached: it is called once per thread."""
        if (make, number) not in self._others:
            self._others[make, number] = make(number)
        return cast(T, self._others[make, number])  # result of `make`
