"""The codec gangsaw.bwt in slow plain Python, from its SPEC.md: a block by its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from reference import bwt_dense, bwt_fast
from reference.bwt_transform import inverted, spacing, transformed

RAW, DENSE, FAST = range(3)
ROW_BYTES = 3


def recode_block(
    data: bytes, parameters: dict[str, Any], shape: Sequence[int], dtype: Any
) -> tuple[Any, bytes]:
    """Decode one block, and encode it again: the suite over every codec asks."""
    kind, n = data[0], shape[0]
    assert kind in (RAW, {"dense": DENSE, "fast": FAST}[parameters["effort"]])
    if kind == RAW:
        assert len(data) == 1 + n
        return np.frombuffer(data[1:], dtype), data
    end = 1 + ROW_BYTES * -(-n // spacing(n))
    numbers = [data[i : i + ROW_BYTES] for i in range(1, end, ROW_BYTES)]
    rows = [int.from_bytes(number, "little") for number in numbers]
    bwt, body = recoded(kind, data[end:], n)
    block = inverted(bwt, rows)
    assert transformed(block) == (bwt, rows)
    return np.frombuffer(block, dtype), data[:end] + body


def recoded(kind: int, body: bytes, n: int) -> tuple[bytes, bytes]:
    """The string, and its body made again; the tables of `fast` are its encoder's choice."""
    if kind == FAST:
        bwt, tables = bwt_fast.read_all(body, n)
        return bwt, bwt_fast.encoded(bwt, tables)
    bwt = bwt_dense.decode(body, n)
    return bwt, bwt_dense.encode(bwt)
