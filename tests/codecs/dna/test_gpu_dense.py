"""Lanes of dense blocks on a GPU: the words of the CPU, of any shape, and wrong words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from emulator.host_module import schedule

from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.dna.dense import coding, gpu_coding
from gangsaw.codecs.dna.dense.shape import shape_of

Bases = npt.NDArray[np.uint8]


def repeats(n: int, seed: int) -> Bases:
    """Random bases of which later ones repeat former ones on both strands, with changes."""
    rng = np.random.default_rng(seed)
    bases = rng.integers(0, 4, n, np.uint8)
    half = n // 2
    for at in range(n // 4, n - 60, 90):
        begin, length = rng.integers(0, max(1, at - 60)), min(60, n - at)
        part = bases[begin : begin + length]
        bases[at : at + part.size] = 3 - part[::-1] if at > half else part
    changed = rng.integers(0, n, n // 30)
    bases[changed] = rng.integers(0, 4, changed.size)
    return bases


# bases and lanes: one alone; two that clash all the time; more than a warp, the last one shorter
SHAPES = [(1, 1), (40, 1), (700, 1), (900, 2), (3000, 5), (5999, 33), (9000, 64)]


def test_words_are_those_of_the_cpu(cupy: Any) -> None:
    blocks = [repeats(n, n) for n, _ in SHAPES]
    shapes = [shape_of(n, lanes) for n, lanes in SHAPES]
    expected = [coding.encode(*one) for one in zip(blocks, shapes, strict=True)]
    with schedule(seed=3):
        found = gpu_coding.encode_blocks(blocks, shapes)
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(own.bits, other.bits)
        np.testing.assert_array_equal(own.body, other.body)
    ends = [np.cumsum(lanes.bits) // 16 for lanes in expected]
    encoded = zip(shapes, [lanes.body for lanes in expected], ends, strict=True)
    decoded = gpu_coding.decode_blocks([gpu_coding.Ends(*one) for one in encoded])
    for bases, block in zip(decoded, blocks, strict=True):
        np.testing.assert_array_equal(bases, block)
