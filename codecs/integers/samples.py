"""Test samples for the suite of all codecs: seeded small rows with parameters.

They are typical, edge and hostile cases.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.integers.params import MOST_COLUMNS, Params

Rows = npt.NDArray[np.uint32]


def samples() -> list[Sample]:
    """Return all samples; the same on every machine."""
    edits, rng = _edits(700), np.random.default_rng(11)
    powers = 1 << np.arange(32, dtype=np.uint64)
    limits = np.concatenate((powers - 1, powers, powers + 1, [(1 << 32) - 1])).astype(np.uint32)
    anything = rng.integers(0, 1 << 32, (90, 3), np.uint32)
    return [
        Sample("edits", edits, Params(rows=256)),
        Sample("one-block", edits, Params()),
        Sample("one", edits[:1, :1], Params()),
        Sample("zeros", np.zeros((300, 4), np.uint32), Params(rows=128)),
        Sample("same", np.full((130, 2), 0xFFFFFFFF, np.uint32), Params(rows=64)),
        Sample("row-a-block", edits[:5], Params(rows=1)),
        Sample("limits", np.column_stack((limits, limits[::-1])), Params()),
        Sample("noise", anything, Params(rows=40)),
        Sample("wide", rng.geometric(0.1, (60, MOST_COLUMNS)).astype(np.uint32), Params(rows=32)),
        Sample("big-endian", edits[:100].astype(">u4"), Params(rows=64)),
        Sample("fortran", np.asfortranarray(edits[:100]), Params(rows=64)),
    ]


def _edits(n: int) -> Rows:
    """Return rows that resemble edits: a gap, a kind, a size that depends on it."""
    rng = np.random.default_rng(7)
    kinds = rng.choice([0, 0, 0, 2, 3, 4, 5], n)
    sizes = np.where(
        kinds == 4, rng.geometric(0.4, n), np.where(kinds == 5, rng.integers(4, 64, n), 0)
    )
    return np.column_stack((rng.geometric(0.001, n), kinds, sizes)).astype(np.uint32)
