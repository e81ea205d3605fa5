"""Test samples for the suite of all codecs: seeded tiny arrays with parameters.

They are edge, typical and hostile cases.
"""

from __future__ import annotations

import numpy as np

from gangsaw.codecs.bwt.params import EFFORTS, MOST_BLOCK, Params
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.plugins.samples import Sample

SOURCES = (
    "dense/device/decode.cu",
    "dense/device/encode.cu",
    "fast/device/decode.cu",
    "fast/device/encode.cu",
    "lanes/device/runs.cu",
    "transform/forward.cu",
    "transform/inverse.cu",
)
KERNELS = {name: [dict[str, int | str]()] for name in SOURCES}
LINE = b"%02d:%02d:07 host sshd[%d]: Failed password for root from 10.0.%d.7 port 22\n"


def samples() -> list[Sample]:
    """Return all test arrays of the codec; the same on every machine."""
    return [
        Sample("dense-fortran", np.asfortranarray(_steps((4, 3, 5), "c16")), Params(block=100)),
        Sample("dense-scalar", np.array(3.5, "f4"), Params(), grows=()),
        Sample("fast-big-endian", _steps((6, 9), ">i4"), Params(effort="fast", block=70)),
        *(
            Sample(f"{effort}-{name}", array, Params(effort=effort, block=block))  # type: ignore[arg-type]
            for effort in EFFORTS
            for name, (array, block) in _arrays().items()
        ),
    ]


def _arrays() -> dict[str, tuple[NumpyArray, int]]:
    rng = np.random.default_rng(11)
    return {
        "log": (_log(), 1 << 10),  # more than a block: the last is shorter
        "one": (_text(b"a"), MOST_BLOCK),
        "equal": (np.full(300, 255, np.uint8), 1 << 9),
        "period-2": (_text(b"\0\xff" * 100), 1 << 8),
        "fibonacci": (_fibonacci(), 1 << 8),
        "de-bruijn": (_de_bruijn(8), 1 << 8),
        "block-and-one": (_text(b"mississippi" * 6)[:65], 64),
        "all-bytes": (rng.permutation(np.repeat(np.arange(256, dtype=np.uint8), 2)), 1 << 9),
        "noise": (rng.integers(0, 256, 200, np.uint8), 128),
        "steps": (_steps((2, 9, 7), "u2"), 1 << 8),
        "text": (_log()[:500], 1 << 22),  # the usual block size, for which memory is measured
    }


def _log() -> NumpyArray:
    return _text(b"".join(LINE % (i // 4, i * 7 % 60, 400 + i, i % 3) for i in range(20)))


def _fibonacci() -> NumpyArray:
    """Return a Fibonacci word, a string whose rotations differ only late."""
    word, longer = b"b", b"a"
    while len(longer) < 200:
        word, longer = longer, longer + word
    return _text(longer)


def _de_bruijn(order: int) -> NumpyArray:
    """Return a de Bruijn sequence of bits, which contains each word of `order` bits once.

    The largest word comes first.
    """
    seen, bits = set[int](), [0] * order
    while len(bits) < 1 << order:
        word = int("".join(map(str, bits[1 - order :])), 2) << 1
        bits.append(int(word | 1 not in seen))
        seen.add(word | bits[-1])
    return np.array(bits, np.uint8) + ord("a")


def _steps(shape: tuple[int, ...], dtype: str) -> NumpyArray:
    """Return an array of numbers that often repeat."""
    return (np.arange(np.prod(shape)) // 5 % 9).reshape(shape).astype(dtype)


def _text(data: bytes) -> NumpyArray:
    return np.frombuffer(data, np.uint8)
