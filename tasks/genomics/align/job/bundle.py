"""Arrays in one file that processes map; a line of JSON describes them.

8 bytes, little-endian: length of the line
the line: name, dtype and shape of each array
the arrays, each at an offset that is a multiple of 64 bytes
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray

ALIGNED = 64
LENGTH = 8


def pack_arrays(arrays: Mapping[str, NumpyArray]) -> bytes:
    """Pack named one-dimensional arrays into the bytes of a file."""
    own = [(name, array.dtype.descr, array.size) for name, array in arrays.items()]
    line = json.dumps(own).encode()
    parts = [len(line).to_bytes(LENGTH, "little") + line]
    for array in arrays.values():
        parts.append(b"\0" * (-len(parts[-1]) % ALIGNED))
        parts.append(array.tobytes())
    return b"".join(parts)


def map_arrays(path: Path) -> dict[str, NumpyArray]:
    """Memory-map the arrays in a file of `pack_arrays`.

    Changes of the arrays do not reach the file.
    """
    with path.open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    at = LENGTH + int.from_bytes(data[:LENGTH], "little")
    arrays: dict[str, NumpyArray] = {}
    for name, descr, size in json.loads(data[LENGTH:at]):
        dtype = _dtype(descr)
        at += -at % ALIGNED
        arrays[name] = np.frombuffer(data, dtype, size, at)
        at += size * dtype.itemsize
    return arrays


def _dtype(descr: list[list[str]]) -> Dtype:
    fields = [(name, kind) for name, kind in descr]
    is_plain = len(fields) == 1 and not fields[0][0]
    return np.dtype(fields[0][1]) if is_plain else np.dtype(fields)
