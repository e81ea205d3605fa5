"""Kernels touch nothing outside of what they are given: arrays end, and begin, at a page without
access, so that one byte too far is a segmentation fault and not a lucky guess."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.backends import encoded
from helpers.fenced_memory import fenced, needs_fences
from helpers.pairwise import pairwise

from gangsaw.codecs.ccsds123 import Params, cpu
from gangsaw.codecs.ccsds123.samples import noise
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk

pytestmark = needs_fences


LANES: dict[str, Any] = {}
INTERLEAVED, BLOCK = {"unary_limit": 32, "order": "bi"}, {"coder": "block"}
SHAPES = [(1, 1, 9), (5, 3, 1), (17, 2, 19), (33, 3, 16)]
AXES = [(0, 1, 2), (1, 2, 0), (2, 1, 0)]


@pytest.mark.parametrize(
    ("choices", "shape", "axes", "at_end"),
    pairwise([LANES, INTERLEAVED, BLOCK], SHAPES, AXES, [True, False]),
)
def test_nothing_outside_is_touched(
    choices: dict[str, Any], shape: tuple[int, int, int], axes: tuple[int, int, int], at_end: bool
) -> None:
    params = Params(**choices)
    image = noise(shape, "u2")
    back = np.argsort(axes)
    source = fenced(np.ascontiguousarray(image.transpose(axes)), at_end).transpose(back)
    blocks = encoded(cpu, [source], params)
    coded = Runs.back_to_back(
        fenced(blocks.joined_payload(), at_end), blocks.lengths, blocks.lane_bits
    )
    blank = np.zeros([shape[axis] for axis in axes], "u2")
    target = fenced(blank, at_end).transpose(back)
    cpu.BACKEND.decode(coded, [target], params)
    np.testing.assert_array_equal(target, image)
    coded.joined_payload()[19:] ^= 0x5A
    with pytest.raises(CorruptChunk):
        cpu.BACKEND.decode(coded, [target], params)
