"""Strings as a Burrows-Wheeler transform gives them, and others that it never gives."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

Octets = npt.NDArray[np.uint8]


def callable_kernel(kernel: Any) -> Any:
    """A part of kernels that Python can call."""
    return numba.njit(lambda *arguments: kernel(*arguments))


def runs(rng: np.random.Generator, n: int, symbols: int, mean: float) -> Octets:
    """n bytes of runs; of the symbols, which lie apart, some come often for a while."""
    lengths = rng.geometric(1 / mean, n)
    near = rng.zipf(1.6, n) + np.cumsum(rng.random(n) < 0.01)
    found = np.repeat((near % symbols * 255 // max(1, symbols - 1)).astype(np.uint8), lengths)
    return found[:n].copy()


def corner_cases() -> dict[str, Octets]:
    """What an encoder could fall over."""
    rng = np.random.default_rng(34)
    every = np.arange(256, dtype=np.uint8)
    return {
        "one byte": np.array([255], np.uint8),
        "two bytes": np.array([0, 255], np.uint8),
        "equal": np.zeros(70000, np.uint8),
        "equal but for the last": np.append(np.full(300000, 7, np.uint8), np.uint8(0)),
        "period 2": np.tile(np.array([0, 255], np.uint8), 20000),
        "halves": np.repeat(np.array([98, 97], np.uint8), 33000),
        "every rank is 255": np.tile(every, 200),
        "256 symbols": np.repeat(every, 130),
        "sorted and back": np.concatenate((every, every[::-1])),
        "random": rng.integers(0, 256, 5000, np.uint8),
        "a long run among random": np.insert(
            rng.integers(0, 256, 900, np.uint8), 400, np.full(1 << 18, 9, np.uint8)
        ),
        "bases": rng.choice(np.frombuffer(b"ACGT", np.uint8), 33000),
        "text": runs(rng, 40000, 80, 2.5),
        "logs": runs(rng, 150000, 90, 30.0),
        "deep ranks": runs(rng, 20000, 256, 1.3),
        "just two lanes": runs(rng, 1 << 15, 30, 3.0),
        "just one lane": runs(rng, (1 << 15) - 1, 30, 3.0),
    }


def strings(most: int = 300) -> st.SearchStrategy[Octets]:
    """Runs of a few symbols."""
    run = st.tuples(st.integers(0, 255) | st.sampled_from([0, 97, 255]), st.integers(1, 40))
    return st.lists(run, min_size=1, max_size=most).map(
        lambda found: np.repeat(*np.array(found, np.int64).T).astype(np.uint8)
    )
