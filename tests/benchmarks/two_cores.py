"""What two threads of this machine can gain at all: a row beside those of kernels."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import numpy.typing as npt

from gangsaw.tasks.bench.table import Row, seconds_in_turn


def two_cores() -> Row:
    """Return what two threads of this machine give where neither waits for memory nor for Python.

    Cores that are two threads of one share its units: no kernel can gain more than these.
    """
    rows = [np.ones((2, 4096), np.float32) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        works = [lambda m=m: list(m(_add_often, rows)) for m in (map, pool.map)]
        one, two = (np.array(spans) for spans in seconds_in_turn(works))
    what = "two threads against one, vectors added in the first cache: the machine's own"
    return Row(what, float(np.median(one / two)), "times")


@numba.njit(nogil=True)  # type: ignore[misc]
def _add_often(rows: npt.NDArray[np.float32]) -> None:
    for _ in range(200_000):
        for i in range(rows.shape[1]):
            rows[1, i] = rows[1, i] * np.float32(0.999) + rows[0, i]
