"""Constant tables of the model: decision trees, and classes of histories. SPEC.md, "Dense".

A token, a rank or a run length, is a path through a tree of decisions. The position of a lane in it
is a word, so that all lanes take a step by one look-up.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

MOST_RANK_WIDTH, MOST_LENGTH_WIDTH = 7, 23  # bits below the first, of ranks and run lengths
WHOLE = 3  # widths up to this have a node per value; longer ones share nodes
RANK_DEPTH, LENGTH_DEPTH = 3, 2  # leading bits of longer numbers with nodes
LENGTH_KINDS = 10  # longer lengths use the nodes of this width
RANK_NODES, NODES = 52, 112  # length nodes come after rank nodes
LENGTH_NODES = NODES - RANK_NODES
RANK_STATES, LENGTH_STATES = 8 * 8 * 3, 8 * 8 * 6

# fields of a place, low to high: node, 7 bits; the bits below
NODE_BITS = 7
NODE = (1 << NODE_BITS) - 1
IN_BITS = 1 << 7  # after the unary part
SHIFT, SHIFTS = 8, 31  # decision: value >> shift is above 0, or its lowest bit
IS_LENGTH = 1 << 13
DONE = 1 << 14  # the token is complete
NUMBER = 16  # from here on: index of the place, from 1
AT_END = 0  # place of a lane at its end


def _rank_node(width: int, depth: int, before: int) -> int:
    if width <= WHOLE:
        return 8 + (1 << width) - 2 + (1 << depth) - 1 + before
    if depth < RANK_DEPTH:
        return 22 + (width - 4) * 7 + (1 << depth) - 1 + before
    return 50


def _length_node(width: int, depth: int, before: int) -> int:
    if width <= WHOLE:
        return RANK_NODES + 24 + (1 << width) - 2 + (1 << depth) - 1 + before
    if depth < LENGTH_DEPTH:
        kind = min(width, LENGTH_KINDS) - 4
        return RANK_NODES + 38 + kind * 3 + (1 << depth) - 1 + before
    return RANK_NODES + 59


class _TokenTree:
    """Decision tree of ranks or of lengths, with nodes numbered on first use."""

    def __init__(self, is_length: bool, cap: int) -> None:
        self.is_length, self.cap = is_length, cap

    def start(self) -> tuple[int, ...]:
        return self.unary(0)

    def unary(self, width: int) -> tuple[int, ...]:
        return (int(self.is_length), width)

    def bits(self, width: int, depth: int, before: int) -> tuple[int, ...]:
        tail = LENGTH_DEPTH if self.is_length else RANK_DEPTH
        if width > WHOLE and depth >= tail:
            before = 0
        return (int(self.is_length), width, depth, before)

    def word(self, place: tuple[int, ...], number: int) -> int:
        flag = IS_LENGTH if self.is_length else 0
        if len(place) == 2:
            node = place[1] + (RANK_NODES if self.is_length else 0)
            return node | (place[1] + 1) << SHIFT | flag | number << NUMBER
        width, depth, before = place[1:]
        node = (_length_node if self.is_length else _rank_node)(width, depth, before)
        return node | IN_BITS | (width - 1 - depth) << SHIFT | flag | number << NUMBER

    def next(self, place: tuple[int, ...], bit: int) -> tuple[int, ...] | None:
        """Return the node after a decision at a node; None after the last decision."""
        if len(place) == 2:
            width = place[1] + bit
            if bit and width < self.cap:
                return self.unary(width)
            return self.bits(width, 0, 0) if width else None
        width, depth, before = place[1:]
        if depth + 1 == width:
            return None
        return self.bits(width, depth + 1, 2 * before + bit)


@lru_cache
def tree(rank_cap: int) -> tuple[Words, int, int]:
    """Build the decision trees of ranks and lengths: successors of each node, and both roots.

    The successors are (2 * n,) uint32, by node and decision. Ranks are below 2^(rank_cap + 1).
    """
    trees = _TokenTree(False, rank_cap), _TokenTree(True, MOST_LENGTH_WIDTH)
    places = [tree.start() for tree in trees]
    numbers = {place: i + 1 for i, place in enumerate(places)}
    following = [0, 0]
    for place in places:  # the list grows
        tree = trees[place[0]]
        for bit in (0, 1):
            after = tree.next(place, bit)
            if after is None:
                following.append(DONE | (IS_LENGTH if tree.is_length else 0) | 1 << NUMBER)
                continue
            if after not in numbers:
                places.append(after)
                numbers[after] = len(places)
            following.append(tree.word(after, numbers[after]))
    rank, length = (trees[k].word(places[k], k + 1) for k in (0, 1))
    return np.array(following, np.uint32), rank, length


BOUNDS = (40, 110, 200, 320, 460, 640, 900)  # bounds of classes of smoothed numbers
RANK_SCALE, LENGTH_SCALE = 100, 256  # scales of smoothed numbers
CLASSES = np.searchsorted(BOUNDS, np.arange(1 << 11), side="right").astype(np.uint8)
RANK_CLASSES = np.searchsorted((2, 3, 4, 8, 16), np.arange(256), side="right").astype(np.uint8)
# next history of a symbol's lengths, by the current one and, in the low bits, the width of a length
HISTORY_BITS, WIDTH_BITS = 4, 5
HISTORY, MOST_LENGTH_HISTORY = 15, 7
HISTORIES = np.array(
    [
        min(HISTORY, (2 * history + (4 * width + 3 if width else 1)) >> 2)
        for history in range(1 << HISTORY_BITS)
        for width in range(1 << WIDTH_BITS)
    ],
    np.uint8,
)
