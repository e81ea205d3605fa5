"""Sizes of a dense block, fixed by its number of bases: lanes and tables. SPEC.md, Dense."""

from __future__ import annotations

from typing import NamedTuple

MOST_LANES = 64
LEAST_LANE = 1 << 13  # bases
MOST_ORDER = 11  # order of directly indexed counts: 8 MiB
MOST_SLOT_BITS = 22  # hashed counts: 8 MiB
MOST_ENTRY_BITS = 20  # positions of 16 bases: 4 MiB
ENTRY = 2  # 16-bit items of an entry; a record has an even number
WORD, STATE_WORDS = 16, 2  # bits of a lane's words, and words of its initial state
# bytes; strides of lanes are no multiple of a power of two, or all would share one cache set
LINE = 64


class Shape(NamedTuple):
    """Sizes of a dense block: its lanes, which are coded in parallel, and tables of its model.

    Attributes
    ----------
    n : number of bases, at least 1
    lanes, steps : number of lanes, and bases of each lane but the last, which may have fewer
    stride : distance between the first bases of lanes in memory
    order : number of context bases that index the direct counts
    slot_bits, entry_bits : log2 of the number of slots of hashed counts, and of entries of the
        match table
    step_bits : bits of a step (base index in a lane) in an entry
    place_bits : bits of lane and step together in an entry
    enters_first : 1 for the old format, where a step enters its positions in the match table before
        it looks up matches
    """

    n: int
    lanes: int
    steps: int
    stride: int
    order: int
    slot_bits: int
    entry_bits: int
    step_bits: int
    place_bits: int
    enters_first: int

    @property
    def record(self) -> int:
        """Number of 16-bit items in a record: an entry of the match table, and slots of its key."""
        return ENTRY + max(ENTRY, 1 << self.slot_bits - self.entry_bits)


def lanes_of(n: int) -> int:
    """Return the number of lanes of a block of n bases: a power of two, 1 to MOST_LANES."""
    lanes = 1
    while lanes < MOST_LANES and n >= 2 * lanes * LEAST_LANE:
        lanes *= 2
    return lanes


def shape_of(n: int, lanes: int | None = None, enters_first: bool = False) -> Shape:
    """Return the sizes of a block of n bases; only tests give another number of lanes."""
    lanes = lanes or lanes_of(n)
    steps, bits = -(-n // lanes), n.bit_length()
    slot_bits, entry_bits = min(MOST_SLOT_BITS, bits + 1), min(MOST_ENTRY_BITS, bits + 1)
    step_bits = steps.bit_length()
    return Shape(
        n,
        lanes,
        steps,
        (steps // (2 * LINE) * 2 + 3) * LINE,
        min(MOST_ORDER, bits // 2 + 1),
        slot_bits,
        entry_bits,
        step_bits,
        step_bits + (lanes - 1).bit_length(),
        int(enters_first),
    )


def most_words(steps: int) -> int:
    """Return an upper bound of the words of a lane: 12 bits per base, as frequencies are >= 16."""
    return steps * 3 // 4 + 1 + STATE_WORDS
