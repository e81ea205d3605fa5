"""Samples of the kind "offset" for the test suite of all codecs."""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw.codecs.reads.params import Params


def samples() -> list[Sample]:
    """Return all samples; they are the same on every machine."""
    rng = np.random.default_rng(12)
    params = Params(kind="offset", lane=64)
    edges = np.array([0, 2**64 - 1, 0, 1, 2**63, 2**63 - 1, 5], np.uint64)
    cases = {
        "equal": np.arange(300, dtype=np.uint64) * np.uint64(151),
        "lengths": np.cumsum(rng.integers(35, 252, 300)).astype(np.uint64),
        "long": np.cumsum(rng.geometric(1e-4, 100)).astype(np.uint64),
        "filled": np.array([0, 151, 302, 453, 604] + [0] * 150, np.uint64),
        "falling": np.arange(2000, 1900, -1).astype(np.uint64),
        "any": rng.integers(0, 1 << 64, 100, np.uint64),
        "edges": np.tile(edges, 40),
        "one": edges[1:2],
    }
    arrays = [Sample(f"offset-{name}", array, params) for name, array in cases.items()]
    blocks = Params(kind="offset", block=128, lane=64)
    return [*arrays, Sample("offset-blocks", cases["lengths"], blocks)]
