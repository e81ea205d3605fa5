"""Contexts of many letters of a line at once: an encoder knows the letters before it codes them.

It is what `contexts.context_of` says of one, in vectors; sums of changes are running sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_norefs_inline, jit_norefs_part
from gangsaw.codecs.core.numba.vectors.gather import last_lane, running_sums
from gangsaw.codecs.core.numba.vectors.integers import (
    lane_leading_zeros,
    load,
    maximum,
    minimum,
    resize_to,
    select,
    static,
    store,
)
from gangsaw.codecs.reads.lines import Places, Text
from gangsaw.codecs.reads.quality.contexts import CHANGES, LONG, PLACES
from gangsaw.codecs.reads.quality.values import fill_values

PIECE = 4096  # letters that are looked at together: they stay in the nearest cache
BEFORE = 3  # values before a letter that its context is made of
WIDTH = 16
SPAN = 4 * PIECE  # bytes of text whose values are found together
LANES = static(WIDTH)
PART_BITS = 20  # of a place: i < LONG letters times a step rounded up do not reach the next part
TOP_BIT = 31
FIRST = CHANGES  # context of a first letter: no values before it, which are equal, no changes


class LineScratch(NamedTuple):
    """A piece of a line, and what is near it.

    Attributes
    ----------
    values : (n,) uint8, of `spans`, with some places before and behind
    spans : (2,) int64, begin and end of the text whose values these are
    contexts : (n,) int32, of the letters of the piece
    numbers : (WIDTH,) int32, from 0 on
    """

    values: Text
    spans: Places
    contexts: npt.NDArray[np.int32]
    numbers: npt.NDArray[np.int32]


def scratch_of() -> LineScratch:
    """Return room for a piece of one text."""
    values, contexts = np.zeros(SPAN + 2 * WIDTH, np.uint8), np.zeros(PIECE + WIDTH, np.int32)
    return LineScratch(values, np.zeros(2, np.int64), contexts, np.arange(WIDTH, dtype=np.int32))


@jit_norefs_inline
def part_step(length: int) -> int:
    """Return by how much a place grows from letter to letter; its part is place >> PART_BITS."""
    if length >= LONG or length == 0:
        return 0
    return ((PLACES << PART_BITS) + length - 1) // length


@jit_norefs_inline
def find_values(text: Any, begin: int, end: int, values: Any, scratch: Any) -> int:
    """Return where in `scratch.values` those of text[begin:end] begin; BEFORE others precede them.

    They are found for many lines at once: a line on its own would wait for them to be written.
    """
    spans = scratch.spans
    if begin - BEFORE < spans[0] or end > spans[1]:
        spans[0] = max(begin - BEFORE, 0)
        spans[1] = min(spans[0] + SPAN, text.size)
        fill_values(text, spans[0], spans[1], values, scratch.values[BEFORE:])
    return int(begin - spans[0] + BEFORE)


@jit_norefs_part
def find_contexts(
    text: Any,
    line: int,
    first: int,
    n: int,
    values: Any,
    strides: Any,
    step: int,
    changed: Any,
    scratch: Any,
) -> Any:
    """Find the contexts of the letters first..first + n - 1 of a line, PIECE at most.

    Parameters
    ----------
    line : where it begins in `text`
    values : of letters
    step : of `part_step`
    changed : the changes that this returned for the piece before, if first > 0

    Returns
    -------
    where in `scratch.values` theirs begin, and the changes so far
    """
    own, numbers = scratch.values, load(scratch.numbers, 0, LANES)
    at = find_values(text, line + first, line + first + n, values, scratch)
    if first == 0:
        changed = 1 - np.int64(own[at])  # the first letter is no change
    place = numbers * step  # lines of several pieces have no parts
    for i in range(0, n, WIDTH):
        before = resize_to(load(own, at + i - 1, LANES), scratch.contexts)
        second = resize_to(load(own, at + i - 2, LANES), scratch.contexts)
        third = resize_to(load(own, at + i - 3, LANES), scratch.contexts)
        if first + i == 0:
            before = select(numbers > 0, before, 0)
            second, third = select(numbers > 1, second, 0), select(numbers > 2, third, 0)
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
    return at, min(changed, 1 << CHANGES)
