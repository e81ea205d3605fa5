"""Seeded arrays of many dtypes and ranks x Params for the suite over all codecs. Each is tiny."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.plugins.samples import Sample
from gangsaw_octets.params import Params


def samples() -> list[Sample]:
    """Return all samples; the same on every machine."""
    cube = steps((3, 5, 7), "u2")
    return [
        Sample("cube", cube, Params(block=64)),
        Sample("one-block", cube, Params()),
        Sample("big-endian", steps((6, 9), ">i4"), Params(block=50)),
        Sample("fortran", np.asfortranarray(steps((4, 3, 5), "f8")), Params(block=100)),
        Sample("strided", steps((8, 10), "c16")[::2, ::-3], Params(block=48)),
        Sample("wide-items", steps((5,), "c16"), Params(block=7)),
        Sample("one-item", np.array(3.5, "f4"), Params(), grows=()),
        Sample("marks", steps((2, 2, 2, 2, 9), "i1") > 2, Params(block=30)),
        Sample("half", steps((40,), "f2"), Params(block=33), grows=(0,)),
        Sample("long-run", np.zeros((3, 500), "i2"), Params(block=1200), grows=(0,)),
        Sample("noise", noise((4, 60), "u8"), Params(block=256), grows=(0,)),
    ]


def steps(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Return numbers that often repeat."""
    return (np.arange(np.prod(shape)) // 5 % 9).reshape(shape).astype(dtype)


def noise(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Return numbers that do not."""
    return np.random.default_rng(11).integers(0, 1 << 60, shape).astype(dtype)
