"""Contexts of many letters of a line at once: an encoder knows the letters before it codes them.

What `contexts.context_of` says of one letter, in vectors; sums of changes are running sums of these.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_norefs_inline, jit_norefs_part
from gangsaw.codecs.core.numba.simd import (
    lane_leading_zeros,
    load,
    maximum,
    minimum,
    resize_to,
    select,
    static,
    store,
)
from gangsaw.codecs.core.numba.simd_gather import last_lane, running_sums
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.quality.contexts import CHANGES, LONG, PLACES

PIECE = 4096  # letters that are looked at together: they stay in the nearest cache
BEFORE = 3  # values before a letter that its context is made of
WIDTH = 16
LANES = static(WIDTH)
PART_BITS = 20  # of a place: i < LONG letters times a step rounded up do not reach the next part
TOP_BIT = 31
FIRST = (
    CHANGES  # the context of a first letter: no values before it, which are equal, and no changes
)


class Scratch(NamedTuple):
    """A piece of a line.

    Attributes
    ----------
    values : (n,) uint8, from BEFORE on those of the piece, before them those before it
    contexts : (n,) int32, of its letters
    numbers : (WIDTH,) int32, from 0 on
    """

    values: Text
    contexts: npt.NDArray[np.int32]
    numbers: npt.NDArray[np.int32]


def scratch_of() -> Scratch:
    """Return room for a piece."""
    values = np.zeros(PIECE + 2 * WIDTH, np.uint8)
    return Scratch(values, np.zeros(PIECE + WIDTH, np.int32), np.arange(WIDTH, dtype=np.int32))


@jit_norefs_inline
def part_step(length: int) -> int:
    """Return by how much a place grows from letter to letter; its part is place >> PART_BITS."""
    if length >= LONG or length == 0:
        return 0
    return ((PLACES << PART_BITS) + length - 1) // length


@jit_norefs_part
def look_at(
    text: Any, begin: int, first: int, n: int, values: Any, strides: Any, step: int, changed: int,
    scratch: Any,
) -> int:  # fmt: skip
    """Fill `scratch` with the letters first..first + n - 1 of a line; return the changes so far.

    Parameters
    ----------
    begin : of the line in `text`
    values : (256,) uint8, of letters
    step : of `part_step`
    changed : what this returned for the piece before
    """
    own = scratch.values
    for k in range(BEFORE):
        own[k] = own[PIECE + k] if first else 0  # pieces that others follow are full
    for i in range(n):
        own[BEFORE + i] = values[text[begin + first + i]]
    if first == 0:
        changed = 1 - np.int64(own[BEFORE])  # the first letter is no change
    place = load(scratch.numbers, 0, LANES) * step  # lines of several pieces have no parts
    for i in range(0, n, WIDTH):
        third = resize_to(load(own, i, LANES), scratch.contexts)
        second = resize_to(load(own, i + 1, LANES), scratch.contexts)
        before = resize_to(load(own, i + 2, LANES), scratch.contexts)
        sums = running_sums(maximum(before - second, second - before)) + changed
        changed = np.int64(np.int32(last_lane(sums)))
        level = minimum(TOP_BIT - lane_leading_zeros(sums), CHANGES - 1)
        pair = (maximum(second, third) >> np.int64(strides.shift)) * 2
        pair = select(second == third, pair + 1, pair)
        row = (place >> PART_BITS) * np.int64(strides.part) + before * np.int64(strides.before)
        store(scratch.contexts, i, row + pair * CHANGES + level)
        place = place + WIDTH * step
    if first == 0:
        scratch.contexts[0] = FIRST
    return min(changed, 1 << CHANGES)
