"""Statistics of the sample-adaptive coder (CCSDS 123.0-B-2, 5.4.3.2): counter and accumulators."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.ccsds123.predict.plan import Coder
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import Vector


@jit(part=True)
def count_at(c: Coder, t: int) -> Any:
    """Return the counter Gamma(t), t >= 1: it counts to top_count, then repeats from half of it."""
    count = c.first_count + t - 1
    half = (c.top_count + 1) >> 1
    return count if count <= c.top_count else half + (count - c.top_count - 1) % half


def counts(coder: Coder, begin: int, end: int) -> npt.NDArray[np.int64]:
    """Return Gamma(t) for begin <= t < end, (end - begin,) int64; Gamma(0) is Gamma(1)."""
    first, limit = coder.first_count, coder.top_count
    t = np.maximum(np.arange(begin, end) - 1, 0)
    climb = limit - first
    period = limit + 1 - ((limit + 1) >> 1)
    fall = (t - climb - 1) % period + ((limit + 1) >> 1)
    return np.where(t <= climb, first + t, fall)


@jit(part=True)
def update_statistics(c: Coder, sums: Vector, delta: Vector, count: int) -> Any:
    """Return the accumulator Sigma after coding delta at counter value `count`."""
    total = sums + delta
    return (total + 1) >> 1 if count == c.top_count else total
