"""Hash of nucleotypes (FNV-1a, 64 bits), equal in all processes and on all machines."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.paths.distinct import FNV_BASIS, FNV_PRIME


def hashes(texts: pa.Array, *numbers: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return the FNV-1a hash (n,) of each text's bytes, then of each number as one symbol.

    Python's own hash differs between processes, and Arrow has none.
    """
    texts = texts.cast(pa.large_string())
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    symbols = np.frombuffer(data if data is not None else b"", np.uint8)
    found = np.empty(len(texts), np.uint64)
    _hash_texts(symbols, ends, found)
    for column in numbers:
        _hash_numbers(column, found)
    return found


@jit
def _hash_texts(
    symbols: NDArray[np.uint8], ends: NDArray[np.int64], found: NDArray[np.uint64]
) -> None:
    for i in range(len(found)):
        value = FNV_BASIS
        for k in range(ends[i], ends[i + 1]):
            value = (value ^ np.uint64(symbols[k])) * FNV_PRIME
        found[i] = value


@jit
def _hash_numbers(numbers: NDArray[np.int32], found: NDArray[np.uint64]) -> None:
    for i in range(len(found)):
        found[i] = (found[i] ^ np.uint64(numbers[i])) * FNV_PRIME
