"""How often which value comes in which context, counted in a hash table of those that occur."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline
from gangsaw.codecs.reads.lines import Lines, Text
from gangsaw.codecs.reads.quality.contexts import (
    CHANGES,
    START,
    Components,
    U,
    after,
    context_of,
    place_step,
    strides_of,
)

SAMPLE = 1 << 22  # values that are enough to choose a tree by
SLOTS_BITS = 18, 20  # of a first table, which stays in a core's cache, and of a second
LOAD = 3  # quarters of a table that are filled at most
MULTIPLIER = np.uint32(0x9E3779B1)  # 2^32 by the golden ratio (D. Knuth)
VALUE_BITS, HALF, COUNT = U(8), U(32), U((1 << 32) - 1)


class Counts(NamedTuple):
    """What was counted, one entry for each pair of context and value that occurs.

    Attributes
    ----------
    contexts : (n, 4) uint8, the components
    values : (n,) uint8
    counts : (n,) int64
    weight : how many times what is counted stands for
    """

    contexts: npt.NDArray[np.uint8]
    values: npt.NDArray[np.uint8]
    counts: npt.NDArray[np.int64]
    weight: int


def count_contexts(lines: Lines, values: Text, components: Components) -> Counts:
    """Count every `weight`th window, so that some SAMPLE bytes are looked at."""
    weight = max(1, -(-lines.text.size // SAMPLE))
    for bits in SLOTS_BITS:
        slots = np.zeros(1 << bits, np.uint64)
        if fill_slots(lines, weight, values, strides_of(components), slots, bits):
            break  # else what was counted is taken: no more could be learned of such values
    n = int(np.count_nonzero(slots))
    out = Counts(np.empty((n, 4), np.uint8), np.empty(n, np.uint8), np.empty(n, np.int64), weight)
    take_apart(slots, components, out)
    return out


@jit_norefs
def fill_slots(lines: Any, step: int, values: Any, strides: Any, slots: Any, bits: int) -> bool:
    """Count every `step`th window in 2^bits zeroed slots; whether there was room.

    A slot that is used has the key `context << 8 | value` plus 1 in its upper half, and below it a
    count: both are in one line of the cache.
    """
    left = slots.size // 4 * LOAD
    for window in range(0, lines.windows.size - 1, step):
        for line in range(lines.windows[window], lines.windows[window + 1]):
            begin, end = U(lines.starts[line]), U(lines.ends[line])
            past, grows = START, place_step(lines.ends[line] - lines.starts[line])
            for i in range(begin, end):
                value = U(values[lines.text[i]])
                key = np.uint32(context_of(past, strides) << VALUE_BITS | value)
                left -= count_key(key, slots, np.uint32(32 - bits))
                if left == 0:
                    return False
                past = after(past, value, grows)
    return True


@jit_norefs_inline
def count_key(key: Any, slots: Any, shift: Any) -> int:
    """Count a key; return whether it is new."""
    name, slot = U(key) + U(1), U(np.uint32(key * MULTIPLIER) >> shift)
    while slots[slot] >> HALF != name:
        if slots[slot] == 0:
            slots[slot] = name << HALF | U(1)
            return 1
        slot = (slot + U(1)) & U(slots.size - 1)
    slots[slot] += U(1)
    return 0


@jit_norefs
def take_apart(slots: Any, components: Any, out: Any) -> None:
    """Fill in the components of the keys that are there, see `context_of`, and their counts."""
    n = 0
    for slot in slots:
        if slot:
            key = np.int64(slot >> HALF) - 1
            rest, change = key >> 8, (key >> 8) % CHANGES
            rest, pair = rest // CHANGES // components.pairs, rest // CHANGES % components.pairs
            part, before = rest // components.befores, rest % components.befores
            out.contexts[n, 0], out.contexts[n, 1] = before, part
            out.contexts[n, 2], out.contexts[n, 3] = pair, change
            out.values[n], out.counts[n] = key & 255, out.weight * np.int64(slot & COUNT)
            n += 1
