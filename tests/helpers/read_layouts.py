"""Blocks of reads that are made from a layout, so that an encoder meets every layout there is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from gangsaw.codecs.reads.lines import Lines, Text, find_lines
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import BlockLanes, pack_payload, parse_payload
from gangsaw.codecs.reads.sequence.bases import to_base_codes
from gangsaw.codecs.reads.sequence.coding import encode_layout
from gangsaw.codecs.reads.sequence.layout.placed import Layout

ACGT = np.frombuffer(b"ACGT", np.uint8)
OTHERS = np.frombuffer(b"NNNacgtRY.*-\0\xff", np.uint8)


class Case(NamedTuple):
    """A block (n,) uint8 as lines, and their layout."""

    block: Text
    lines: Lines
    pieces: Layout
    params: Params

    def payload(self) -> tuple[Text, Any]:
        """What is coded of it, whether or not it is shorter; and the bits of lanes."""
        coded = encode_layout(
            self.lines, to_base_codes(self.lines.text), self.pieces, self.params.pairs
        )
        long = self.lines._replace(text=np.zeros(1 << 24, np.uint8))  # too long to be stored
        data, bits = pack_payload(long, coded)
        data[1:9] = np.frombuffer(self.lines.text.size.to_bytes(8, "little"), np.uint8)
        return data, bits

    def unpacked(self) -> BlockLanes:
        """The payload, read."""
        data, bits = self.payload()
        return parse_payload(data, bits, self.block.size, self.params.sizes.lane)


class Recipe(NamedTuple):
    """What a block is made of.

    Attributes
    ----------
    seed : of all that is not said here
    size : letters of the consensus
    n_lines, longest : lines, and the letters of a piece, at most
    most_pieces : of a line
    wrong, other : share of letters that differ, and of those that are no base
    strains : share of columns that have a second letter
    order : whether lines ascend
    """

    seed: int
    size: int
    n_lines: int
    longest: int
    most_pieces: int
    wrong: float
    other: float
    strains: float
    order: bool
    pairs: bool
    is_open: bool
    lane: int


recipes = st.builds(
    Recipe,
    seed=st.integers(0, 1 << 30),
    size=st.sampled_from([1, 7, 64, 300, 5000, 70000]),
    n_lines=st.integers(1, 60),
    longest=st.sampled_from([1, 5, 40, 300, 1500]),
    most_pieces=st.sampled_from([1, 2, 5, 300]),
    wrong=st.sampled_from([0, 0.01, 0.3]),
    other=st.sampled_from([0, 0, 0.02, 0.5]),
    strains=st.sampled_from([0, 0.02, 0.5]),
    order=st.booleans(),
    pairs=st.booleans(),
    is_open=st.booleans(),
    lane=st.sampled_from([64, 256, 1 << 16]),
)


def made(recipe: Recipe) -> Case:
    """Return a block of a recipe."""
    rng = np.random.default_rng(recipe.seed)
    consensus = rng.integers(0, 4, recipe.size, np.uint8)
    second = np.where(rng.random(recipe.size) < recipe.strains, rng.integers(1, 4), 0)
    rows: list[tuple[int, int, int, int, int, bool]] = []
    lines: list[bytes] = []
    place = 0
    for i in range(recipe.n_lines):
        if lines and rng.random() < 0.1:  # the same again
            rows += [(i, *row[1:]) for row in rows if row[0] == i - 1]
            lines.append(lines[-1])
            continue
        place = min(place + int(rng.integers(0, 300)), recipe.size - 1)
        begin, parts = 0, []
        for k in range(int(rng.integers(0, recipe.most_pieces + 1))):
            n = int(rng.integers(1, recipe.longest + 1))
            mapped, strand = bool(rng.random() < 0.8), int(rng.integers(0, 2))
            if mapped:
                where = place if recipe.order and k == 0 else int(rng.integers(0, recipe.size))
                where = min(where, max(0, recipe.size - n))
                n = min(n, recipe.size)
                codes = consensus[where : where + n]
                codes = (codes + second[where : where + n] * (rng.random() < 0.4)) % 4
                codes = 3 - codes[::-1] if strand else codes
            else:
                where, strand, codes = 0, 0, rng.integers(0, 4, n)
            parts.append(spoilt(rng, ACGT[codes], recipe))
            rows.append((i, begin, begin + n, where, strand, mapped))
            begin += n
        lines.append(b"".join(parts))
    return case_of(lines, rows, consensus, recipe)


def spoilt(rng: np.random.Generator, letters: Text, recipe: Recipe) -> bytes:
    """Letters with some that are wrong and some that are no base."""
    letters = letters.copy()
    is_wrong, is_other = ((recipe.wrong, recipe.other) > rng.random((2, letters.size)).T).T
    letters[is_wrong] = rng.choice(ACGT, int(is_wrong.sum()))
    letters[is_other] = rng.choice(OTHERS, int(is_other.sum()))
    return letters.tobytes()


def case_of(lines: list[bytes], rows: Any, consensus: Text, recipe: Recipe) -> Case:
    missing = consensus.size - sum(map(len, lines))
    if missing > 0:  # no consensus is longer than its block
        rows = [*rows, (len(lines), 0, missing, 0, 0, False)]
        lines = [*lines, b"N" * missing]
    text = b"".join(line + b"\n" for line in lines)
    if recipe.is_open and lines[-1] and lines[-1][-1]:
        text = text[:-1]
    fields = np.array(rows, np.int64).reshape(-1, 6).T
    pieces = Layout(consensus, *fields[:4], fields[4].astype(np.uint8), fields[5].astype(np.bool_))
    params = Params(kind="sequence", pairs=recipe.pairs, lane=recipe.lane)
    block = np.frombuffer(text, np.uint8)
    return Case(block, find_lines(block, recipe.lane), pieces, params)
