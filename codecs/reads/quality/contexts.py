"""Context of a value: four components of the earlier values (SPEC.md, Qualities)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit

PARTS = 8  # parts of a line
CHANGES = 8  # levels of the sum of changes
LONG = 1000  # values of a line from which on its position carries no information
# the part is above these bits, which a line of any length in steps of 1 never fills
PLACE_BITS = 40
MOST_PAIRS = 64  # classes of the greater of two values; with more values, neighbours share a class

# Kernels count in uint64, so that an index needs no wrap-around check.
U = np.uint64
ZERO, ONE = U(0), U(1)
LAST_LEVEL, LEVEL_BITS, TOP_BIT, PLACE_SHIFT = U(CHANGES - 1), U(3), U(63), U(PLACE_BITS)


class Components(NamedTuple):
    """Number of values of the context components `before` and `pair` (SPEC.md, Qualities).

    `shift` low bits are dropped from the greater value of a pair.
    """

    befores: int
    pairs: int
    shift: int

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Number of values of each component, in the order of the tree's levels."""
        return self.befores, PARTS, self.pairs, CHANGES


class Strides(NamedTuple):
    """Factors that combine the components into a context number, uint64, and `Components.shift`."""

    part: np.uint64
    before: np.uint64
    shift: np.uint64


class Past(NamedTuple):
    """Earlier values of a line that determine a context, uint64.

    `before`, `second` and `third` are the last three values, the newest first; `changed` is 1 plus
    the sum of absolute changes; `place` is the scaled position in the line.
    """

    before: np.uint64
    second: np.uint64
    third: np.uint64
    changed: np.uint64
    place: np.uint64


START = Past(ZERO, ZERO, ZERO, ONE, ZERO)


def components_of(n_values: int) -> Components:
    """Return the components of contexts over n_values >= 1 values."""
    shift = max(0, (n_values - 1).bit_length() - (MOST_PAIRS - 1).bit_length())
    return Components(n_values, 2 * ((n_values - 1 >> shift) + 1), shift)


def strides_of(components: Components) -> Strides:
    """Return the factors of context numbers. The part of a line varies slowest, for locality."""
    before = components.pairs * CHANGES
    return Strides(U(components.befores * before), U(before), U(components.shift))


@jit(inline=True, part=True)
def place_step(length: int) -> Any:
    """Return the increment of `Past.place` per value, in a line of this length.

    The part of the line (0 to 7) is place >> PLACE_BITS.

    The place is 0 only at the first value, even in long lines.
    """
    if length >= LONG or length == 0:
        return ONE
    return U(((PARTS << PLACE_BITS) + length - 1) // length)


@jit(inline=True, part=True)
def number_context(past: Past, strides: Strides) -> Any:
    """Return the number of the context that earlier values give."""
    before, second, third, changed, place = past
    pair = (max(second, third) >> strides.shift) << ONE | U(second == third)
    level = min(LAST_LEVEL, TOP_BIT - leading_zeros(changed))
    row = (place >> PLACE_SHIFT) * strides.part + before * strides.before
    return row + (pair << LEVEL_BITS) + level


@jit(inline=True)
def update_past(past: Past, value: np.uint64, step: np.uint64) -> Past:
    """Return the `Past` of the next value; the first one of a line counts as no change.

    step : result of `place_step`
    """
    before, second, _, changed, place = past
    change = max(value, before) - min(value, before)
    changed += change if place else ZERO
    return Past(value, before, second, changed, place + step)
