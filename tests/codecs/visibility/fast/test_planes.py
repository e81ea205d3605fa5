"""Bit planes one by one, with and without the processor's instruction for matrices of bits."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from gangsaw.codecs.core.numba.jit import HAS_GFNI
from gangsaw.codecs.visibility.fast.tiling import planes
from gangsaw.codecs.visibility.fast.tiling.planes import COLUMNS, PLANES, SLACK
from gangsaw.codecs.visibility.lanes.table import ROWS

ORDER = [0, 4, 1, 5, 2, 6, 3, 7]  # of columns, SPEC.md


def expected(rows: np.ndarray, widths: np.ndarray) -> bytes:
    """Plane by plane, bit by bit."""
    out = []
    for column in ORDER:
        for plane in range(widths[column]):
            bits = rows[:, column].astype(np.uint64) >> np.uint64(plane) & np.uint64(1)
            out.append(int(bits @ (np.uint64(1) << np.arange(ROWS, dtype=np.uint64))))
    return np.array(out, "<u4").tobytes()


@pytest.mark.parametrize("has_gfni", [False, True])
def test_planes_there_and_back(has_gfni: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if has_gfni and not HAS_GFNI:
        pytest.skip("this processor transposes no matrices of bits")
    monkeypatch.setattr(planes, "HAS_GFNI", has_gfni)
    store_planes, load_planes = planes.store_planes, planes.load_planes

    @numba.njit
    def there(rows: np.ndarray, out: np.ndarray, widths: np.ndarray) -> int:
        return store_planes(rows, out, 0, widths)

    @numba.njit
    def back(data: np.ndarray, widths: np.ndarray, rows: np.ndarray) -> int:
        return load_planes(data, 0, widths, rows)

    rng = np.random.default_rng(8)
    for widths in (*rng.integers(0, 33, (20, COLUMNS)), np.zeros(COLUMNS), np.full(COLUMNS, 32)):
        widths = widths.astype(np.int32)
        rows = rng.integers(0, 1 << 32, (ROWS, COLUMNS), np.uint64).astype(np.uint32)
        kept = ((np.uint64(1) << widths.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)
        out = np.zeros(4 * PLANES * COLUMNS + SLACK, np.uint8)
        end = there((rows & kept).ravel(), out, widths)
        assert out[:end].tobytes() == expected(rows, widths)
        again = np.empty(ROWS * COLUMNS, np.uint32)
        assert back(out, widths, again) == end
        np.testing.assert_array_equal(again.reshape(rows.shape) & kept, rows & kept)
