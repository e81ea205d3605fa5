"""The context of a value: four components of the values before it (SPEC.md, Qualities)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gangsaw.codecs.core.numba.bits import leading_zeros
from gangsaw.codecs.core.numba.jit import jit_inline, jit_inline_part

PLACES = 8  # parts of a line
CHANGES = 8  # levels of the sum of changes
LONG = 1000  # letters from which on a place says nothing
PLACE_BITS = 40  # above what a line of any length reaches by steps of 1
MOST_PAIRS = 64  # values of the greater of two, beyond which neighbours are one

# Kernels count in uint64, by which an index is what it is: below zero is none.
U = np.uint64
ZERO, ONE = U(0), U(1)
LAST_LEVEL, LEVEL_BITS, TOP_BIT, PLACE_SHIFT = U(CHANGES - 1), U(3), U(63), U(PLACE_BITS)


class Components(NamedTuple):
    """How many values the components of a context have; `shift` cuts the greater of a pair."""

    befores: int
    pairs: int
    shift: int

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """Values of each component, in the order in which the tree asks for them."""
        return self.befores, PLACES, self.pairs, CHANGES


class Strides(NamedTuple):
    """What contexts are numbered by, uint64: `Components` for kernels."""

    part: np.uint64
    before: np.uint64
    shift: np.uint64


class Past(NamedTuple):
    """What contexts are made of, uint64: three values, the sum of changes + 1, and a place."""

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
    """Return how contexts are numbered. Parts of a line come first: what is near goes together."""
    before = components.pairs * CHANGES
    return Strides(U(components.befores * before), U(before), U(components.shift))


@jit_inline_part
def place_step(length: Any) -> Any:
    """Return what a place grows by from letter to letter; its part is place >> PLACE_BITS.

    It is 0 at the first letter alone, also in lines that are long.
    """
    if length >= LONG or length == 0:
        return ONE
    return U(((PLACES << PLACE_BITS) + length - 1) // length)


@jit_inline_part
def context_of(past: Any, strides: Any) -> Any:
    """Return the number of a context."""
    before, second, third, changed, place = past
    pair = (max(second, third) >> strides.shift) << ONE | U(second == third)
    level = min(LAST_LEVEL, TOP_BIT - leading_zeros(changed))
    row = (place >> PLACE_SHIFT) * strides.part + before * strides.before
    return row + (pair << LEVEL_BITS) + level


@jit_inline
def after(past: Any, value: Any, step: Any) -> Past:
    """Return the past of the next letter; the first one of a line is no change."""
    before, second, _, changed, place = past
    change = max(value, before) - min(value, before)
    changed += change if place else ZERO
    return Past(value, before, second, changed, place + step)
