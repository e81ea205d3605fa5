"""Contexts of many values of a line at once, as an encoder knows all values in advance.

They equal those of `contexts.number_context`, computed in vectors; sums of changes are prefix sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s
from gangsaw.codecs.core.numba.jit import jit
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
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.quality.contexts import CHANGES, LONG, PARTS, Strides
from gangsaw.codecs.reads.quality.values import Values, fill_values

PIECE = 4096  # values per step, which stay in the first-level cache
BEFORE = 3  # earlier values in a context
WIDTH = 16
SPAN = 4 * PIECE  # bytes of text whose values are computed together
LANES = static(WIDTH)
PART_BITS = 20  # below the part: i < LONG values times a rounded step do not reach the next part
TOP_BIT = 31
FIRST = CHANGES  # context of a first value: the three earlier values are 0, no changes


class LineScratch(NamedTuple):
    """Scratch memory for the contexts of a piece: at most PIECE values of a line.

    Attributes
    ----------
    values : (n,) uint8, quality values of the text in `spans`, with margins before and after
    spans : (2,) int64, start and end of the text with these values
    contexts : (n,) int32, context number of each value of the piece
    numbers : (WIDTH,) int32: 0, 1, 2 and so on
    """

    values: Text
    spans: Int64s
    contexts: npt.NDArray[np.int32]
    numbers: npt.NDArray[np.int32]


def allocate_line_scratch() -> LineScratch:
    """Return scratch memory for the pieces of one text."""
    values, contexts = np.zeros(SPAN + 2 * WIDTH, np.uint8), np.zeros(PIECE + WIDTH, np.int32)
    return LineScratch(values, np.zeros(2, np.int64), contexts, np.arange(WIDTH, dtype=np.int32))


@jit(inline=True, part=True, norefs=True)
def part_step(length: int) -> int:
    """Return the increment of the position per value, in a line of this length.

    The part of the line (0 to 7) is position >> PART_BITS.
    """
    if length >= LONG or length == 0:
        return 0
    return ((PARTS << PART_BITS) + length - 1) // length


@jit(inline=True, part=True, norefs=True)
def find_values(text: Bytes, begin: int, end: int, values: Values, scratch: LineScratch) -> int:
    """Return the index in `scratch.values` of the values of text[begin:end], after BEFORE others.

    They are computed for many lines at once: a single line would wait for its stores.
    """
    spans = scratch.spans
    if begin - BEFORE < spans[0] or end > spans[1]:
        spans[0] = max(begin - BEFORE, 0)
        spans[1] = min(spans[0] + SPAN, text.size)
        fill_values(text, spans[0], spans[1], values, scratch.values[BEFORE:])
    return int(begin - spans[0] + BEFORE)


@jit(part=True, norefs=True)
def find_line_contexts(
    text: Bytes,
    line: int,
    first: int,
    n: int,
    values: Values,
    strides: Strides,
    step: int,
    changed: Int64,
    scratch: LineScratch,
) -> Any:
    """Compute the contexts of values first..first + n - 1 of a line, at most PIECE values.

    Parameters
    ----------
    line : start of the line in `text`
    values : map from quality bytes to values
    step : result of `part_step`
    changed : sum of changes that the previous piece returned, if first > 0

    Returns
    -------
    the index of these values in `scratch.values`, and the sum of changes so far
    """
    own, numbers = scratch.values, load(scratch.numbers, 0, LANES)
    at = find_values(text, line + first, line + first + n, values, scratch)
    if first == 0:
        changed = 1 - np.int64(own[at])  # the first value is no change
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
