"""Vectors of bytes, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import types

from gangsaw.codecs.core.numba.jit import intrinsic, jit
from gangsaw.codecs.core.numba.vectors.byte_lanes import (
    OF_BYTES,
    OF_FOURTH,
    TABLE,
    VECTOR_BYTES,
    emit_plain_look_up,
    first_lanes,
    join_fours,
    look_up_bytes,
    split_table,
    spread_fours,
)
from gangsaw.codecs.core.numba.vectors.integers import bits_of, load, store

Octets = npt.NDArray[np.uint8]


@intrinsic
def plain_pick(typing_context: Any, vector: Any, low: Any, high: Any) -> Any:
    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return emit_plain_look_up(builder, *args)

    return vector(vector, types.uint64, types.uint64), codegen


@jit(norefs=True)
def picked(data: Any, low: Any, high: Any, out: Any, plain: Any) -> None:
    for at in range(0, data.size, VECTOR_BYTES):
        octets = load(data, at, OF_BYTES)
        store(out, at, look_up_bytes(octets, low, high))
        store(plain, at, plain_pick(octets, low, high))


@jit(norefs=True)
def joined(data: Any, out: Any) -> None:
    for at in range(0, data.size, VECTOR_BYTES):
        store(out, at >> 2, join_fours(load(data, at, OF_BYTES)))


@jit(norefs=True)
def spread_out(data: Any, out: Any) -> None:
    for at in range(0, out.size, VECTOR_BYTES):
        store(out, at, spread_fours(load(data, at >> 2, OF_FOURTH)))


@jit(norefs=True)
def lanes_below(count: int) -> int:
    return bits_of(first_lanes(count, OF_BYTES))  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def data() -> Octets:
    """Every byte, in any order, in several vectors."""
    return np.random.default_rng(0).permutation(np.repeat(np.arange(256), 2)).astype(np.uint8)


def test_a_table_is_looked_up_with_and_without_an_instruction(data: Octets) -> None:
    items = np.random.default_rng(1).integers(0, 128, TABLE, np.uint8)
    out, plain = np.empty_like(data), np.empty_like(data)
    picked(data, *split_table(items.tobytes()), out, plain)
    want = np.where(data < 128, items[data % TABLE], 0)
    assert (out == want).all()
    assert (plain == want).all()


def test_bits_of_four_bytes_lie_in_one(data: Octets) -> None:
    out = np.empty(data.size // 4, np.uint8)
    joined(data, out)
    first, second, third, fourth = (data.reshape(-1, 4) >> 1 & 3).T
    assert (out == (first << 6 | second << 4 | third << 2 | fourth)).all()


def test_a_byte_becomes_four(data: Octets) -> None:
    out = np.empty(data.size * 4, np.uint8)
    spread_out(data, out)
    want = np.stack([data >> 4 & 12, data >> 4 & 3, data & 12, data & 3], 1)
    assert (out == want.ravel()).all()


def test_lanes_below_a_count() -> None:
    assert [lanes_below(count) for count in range(VECTOR_BYTES + 1)] == [
        (1 << count) - 1 for count in range(VECTOR_BYTES + 1)
    ]
