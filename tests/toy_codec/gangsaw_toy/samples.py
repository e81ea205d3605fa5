"""Seeded texts x Params for the suite over all codecs: typical, edge and hostile. Each is tiny."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw_toy.params import Params


def samples() -> list[Sample]:
    """Return all samples; the same on every machine."""
    rng = np.random.default_rng(7)
    return [
        Sample("log", text(60), Params()),
        Sample("blocks", text(40), Params(block=(256,))),
        Sample("one-byte", _bytes(b"\n"), Params()),
        Sample("no-line-end", _bytes(b"abc" * 100), Params(block=(77,))),
        Sample("returns", _bytes(b"a\r\na\rb\n\n\r" * 20), Params(block=(64,))),
        Sample("empty-lines", _bytes(b"\n" * 300), Params(block=(100,))),
        Sample("noise", rng.integers(0, 256, 700, np.uint8), Params(block=(200,))),
        Sample("long-same", _bytes((b"x" * 300 + b"\n") * 3), Params()),
    ]


def text(n_lines: int) -> NDArray[np.uint8]:
    """Return lines as of a log: each begins as the one before."""
    rng = np.random.default_rng(n_lines)
    numbers = rng.integers(0, 1000, n_lines)
    return _bytes(b"".join(b"2031-05-17 12:%02d job %d\n" % (i, k) for i, k in enumerate(numbers)))


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)
