"""What NumPy chooses and writes for a GPU is what kernels choose and write for the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from gangsaw.codecs.core.entropy import rans_tables
from gangsaw.codecs.visibility.dense.choice import gpu_choose, means
from gangsaw.codecs.visibility.dense.model import grid, head, host_grid, host_tables
from gangsaw.codecs.visibility.dense.model.head import N_TABLES
from gangsaw.codecs.visibility.dense.model.symbols import N_SYMBOLS
from gangsaw.codecs.visibility.dense.model.values import MANTISSA

WIDTHS = [2, 4, 8]
PADDING = np.zeros(16, np.uint8)


def words(kind: str, width: int, seed: int) -> NDArray[np.unsignedinteger]:
    """Floats as words: of a grid, near one, of few bits, any."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=700) * 100
    if kind == "grid":
        x = np.round(x) / 8
    elif kind == "near":
        x = np.round(x) / 8 + rng.integers(-2, 3, 700) * 2.0**-10
    elif kind == "few":
        x = x.astype("f2")
    with np.errstate(over="ignore"):
        found = x.astype(f"f{width}").view(f"u{width}")
    return rng.integers(0, 1 << 16, 700).astype(f"u{width}") if kind == "any" else found


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["grid", "near", "few", "noise", "any"])
@pytest.mark.parametrize("seed", range(3))
def test_grids_are_the_kernels(kind: str, width: int, seed: int) -> None:
    some = words(kind, width, seed)
    for n in (0, 1, 2, 700):
        mantissa = MANTISSA[width]
        assert host_grid.choose_grid(some[:n], mantissa) == grid.choose_grid(some[:n], mantissa)


def counts(seed: int) -> NDArray[np.uint32]:
    """Tables of counts: none, of one symbol, of many rare ones beside a frequent one."""
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 900, (N_TABLES, N_SYMBOLS)) * (rng.random((N_TABLES, N_SYMBOLS)) < 0.2)
    found[0], found[1], found[2] = 0, 0, 1
    found[1, 7], found[2, 3] = 5, 1 << 20
    return found.astype(np.uint32)


@pytest.mark.parametrize("seed", range(5))
def test_tables_are_the_kernels(seed: int) -> None:
    here, there = counts(seed), counts(seed)
    data = host_tables.pack_host_tables(here, N_SYMBOLS)
    assert data.tobytes() == head.pack_tables(there, N_SYMBOLS).tobytes()
    np.testing.assert_array_equal(here, there)
    back = np.full_like(here, 9)
    assert host_tables.read_host_tables(np.append(data, PADDING), data.size, back) == data.size
    np.testing.assert_array_equal(back, here)


@given(st.integers(0, 4), st.data())
def test_damaged_tables_are_refused_as_by_kernels(seed: int, data: st.DataObject) -> None:
    stored = host_tables.pack_host_tables(counts(seed), N_SYMBOLS).copy()
    for _ in range(data.draw(st.integers(0, 3))):
        stored[data.draw(st.integers(0, stored.size - 1))] ^= data.draw(st.integers(1, 255))
    stored = stored[: data.draw(st.integers(0, stored.size))]
    room = np.zeros(head.MOST_TABLE_BYTES + 16, np.uint8)
    room[: stored.size] = stored
    here, there = np.zeros((2, N_TABLES, N_SYMBOLS), np.uint32)
    found = host_tables.read_host_tables(room, stored.size, here)
    assert found == rans_tables.read_tables(room, stored.size, there)
    if found >= 0:
        np.testing.assert_array_equal(here, there)


@given(arrays(np.uint32, (N_TABLES, 9), elements=st.integers(0, 1 << 20)))
def test_bits_are_the_kernels_to_the_last_place(some: NDArray[np.uint32]) -> None:
    assert gpu_choose.entropy_bits(some) == means.entropy_bits(some)
