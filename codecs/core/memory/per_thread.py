"""Scratch memory of a thread, used again for each block: the system zeroes fresh memory first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar, cast, overload

from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray, Scalar, ScalarT
from gangsaw.codecs.core.memory.aligned import aligned

T = TypeVar("T")
MOST_BYTES = 1 << 22  # of an array; longer ones are made each time


class ThreadScratch(threading.local):
    """Arrays by name and dtype, and other things by key, each of this thread alone.

    They live as long as the thread, those of the pool as long as the process: some ten MiB each.
    """

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, type[Scalar] | str], NumpyArray] = {}
        self._others: dict[object, object] = {}

    @overload
    def array(self, name: str, least: int, dtype: type[ScalarT]) -> NDArray[ScalarT]: ...

    @overload
    def array(self, name: str, least: int, dtype: str) -> NumpyArray: ...

    def array(self, name: str, least: int, dtype: type[Scalar] | str) -> NumpyArray:
        """Return an aligned array of at least so many items, with any content.

        It is the same memory each time: nobody may hold it when the name is asked for again.
        """
        array = self._arrays.get((name, dtype))
        if array is None or array.size < least:
            array = aligned(least, dtype)
            if array.nbytes <= MOST_BYTES:
                self._arrays[name, dtype] = array
        return array

    def forget(self, name: str, dtype: type[Scalar] | str) -> None:
        """Leave the memory of an array to whoever holds it."""
        self._arrays.pop((name, dtype), None)

    def once(self, make: Callable[[int], T], number: int) -> T:
        """Return what make(number) gave this thread the first time."""
        if (make, number) not in self._others:
            self._others[make, number] = make(number)
        return cast(T, self._others[make, number])  # made by `make`
