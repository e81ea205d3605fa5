"""Words of letters are scored as single letters would be; votes decide for a base."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.sequence.layout import contig as kernels
from gangsaw.codecs.reads.sequence.layout.contig import (
    GONE,
    IDLE,
    LEFT,
    PAD,
    RIGHT,
    Contig,
    Gains,
    empty_contig,
)
from gangsaw.codecs.reads.sequence.layout.layout import GAINS

_run, _score, _vote = kernels.count_present_bases, kernels.score, kernels.add_votes
Codes = npt.NDArray[np.uint8]


@jit
def run(letters: Any, at: int, way: int, most: int) -> Any:
    return _run(letters, at, way, most)


@jit
def score(
    gains: Gains, contig: Contig, letters: Any, at: int, step: int, column: int, way: int, most: int
) -> Any:
    return _score(gains, contig, letters, at, step, column, way, most)


@jit
def vote(contig: Contig, letters: Any, at: int, step: int, begin: int, end: int) -> None:
    _vote(contig, letters, at, step, begin, end)


def padded(codes: Codes) -> Codes:
    return np.pad(codes, PAD, constant_values=GONE)


def scored(contig: Contig, letters: Codes, at: int, step: int, way: int) -> tuple[int, int, bool]:
    """What `score` says, from the middle of the contig on, letter by letter."""
    left, right = contig.edges.tolist()
    column = (left + right) // 2
    most = right - column if way > 0 else column - left + 1
    gain, best, n, i = 0, 0, 0, 0
    while i < most and i - n <= IDLE:
        letter = int(letters[at + step * way * i])
        if letter == GONE:
            most = i
        else:
            base = int(contig.bases[PAD + column + way * i])
            own = letter if step > 0 or letter > 3 else 3 - letter
            gain += 0 if letter > 3 else GAINS.match if own == base else -GAINS.mismatch
            i += 1
            if gain > best:
                best, n = gain, i
            if gain < best - GAINS.give_up:
                return best, n, False
    if i >= most and gain + GAINS.clip >= best:
        return gain, most, True
    return best, n, False


@settings(deadline=None, max_examples=100)
@given(
    st.integers(0, 1 << 32),
    st.integers(1, 600),
    st.sampled_from([0, 0.02, 0.2, 0.5]),
    st.sampled_from([1, -1]),
    st.sampled_from([1, -1]),
)
def test_words_are_scored_as_letters(seed: int, n: int, errors: float, step: int, way: int) -> None:
    rng = np.random.default_rng(seed)
    contig = empty_contig(n)
    codes = rng.integers(0, 4, n, np.uint8)
    vote(contig, padded(codes), PAD, 1, 0, n)
    contig.edges[:] = rng.integers(0, n // 2 + 1), n
    wrong = rng.random(n) < errors
    codes[wrong] = rng.choice(np.array([0, 1, 2, 3, 4, 4, GONE], np.uint8), wrong.sum())
    column = int(contig.edges.sum()) // 2
    if step < 0:
        codes = np.where(codes < 4, 3 - codes, codes)[::-1].astype(np.uint8)
    letters, at = padded(codes), PAD + (column if step > 0 else n - 1 - column)
    most = n - column if way > 0 else column - int(contig.edges[LEFT]) + 1
    found = score(GAINS, contig, letters, at, step, column, way, most)
    assert found == scored(contig, letters, at, step, way)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=40))
def test_another_base_wins_with_more_votes(codes: list[int]) -> None:
    contig = empty_contig(10)
    contig.edges[:] = 4
    votes, base = [0] * 4, 0
    for code in codes:
        vote(contig, padded(np.array([code], np.uint8)), PAD, 1, 4, 5)
        votes[code] += 1
        base = code if votes[code] > votes[base] else base
        assert contig.bases[PAD + 4] == base
    assert contig.edges[RIGHT] == 5


def test_a_run_ends_where_letters_are_gone() -> None:
    letters = padded(np.array([0, 1, 4, 3] * 9, np.uint8))
    assert run(letters, PAD, 1, 1000) == 36
    assert run(letters, PAD + 35, -1, 1000) == 36
    assert run(letters, PAD + 3, 1, 20) == 20
    letters[PAD + 17] = GONE
    assert run(letters, PAD, 1, 1000) == 17
    assert run(letters, PAD + 35, -1, 1000) == 18
