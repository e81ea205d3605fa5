"""Sections with long gaps: one gap in one piece, several where there are several."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.align_files import mutated, random_text

from gangsaw.tasks.genomics.align.search.extension.paths import (
    DELETION,
    INSERTION,
    OP_BITS,
    OP_MASK,
    PathCosts,
)
from gangsaw.tasks.genomics.align.search.extension.place import lengths, section
from gangsaw.tasks.genomics.align.sets.pairs import sequences_of

COSTS = PathCosts(2, 4, 4, 2, 1)


def long_gaps(query: str, text: str) -> list[tuple[int, int]]:
    """Operation and length of the gaps of 20 bases or more of a section."""
    runs = section(sequences_of([query]).codes, sequences_of([text]).codes, COSTS)
    assert lengths(runs) == (len(query), len(text))
    found = [(int(run & OP_MASK), int(run >> OP_BITS)) for run in runs]
    return [(op, n) for op, n in found if n >= 20 and op in (INSERTION, DELETION)]


@pytest.mark.parametrize("seed", range(4))
def test_lost_copies_of_a_repeat_are_one_gap_between_errors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit, before, after = (random_text(rng, n) for n in (40, 100, 100))
    text = before + unit * 40 + after
    query = mutated(rng, before + unit * 28 + after, 0.02, 0.03)
    ((op, n),) = long_gaps(query, text)
    assert op == DELETION
    assert abs(n - 480) <= 20
    ((op, n),) = long_gaps(text, query)
    assert op == INSERTION
    assert abs(n - 480) <= 20


def test_two_long_gaps_are_found() -> None:
    rng = np.random.default_rng(5)
    a, b, c, new, other = (random_text(rng, n) for n in (150, 300, 150, 400, 700))
    assert long_gaps(a + b + c, a + new + b + other + c) == [(DELETION, 400), (DELETION, 700)]
    assert long_gaps(a + new + b + other + c, a + b + c) == [(INSERTION, 400), (INSERTION, 700)]


def test_what_has_nothing_in_common_is_aligned_from_end_to_end() -> None:
    rng = np.random.default_rng(7)
    for n, m in ((300, 900), (900, 300), (1, 200), (60, 101), (2000, 2100)):
        assert sum(size for _, size in long_gaps(random_text(rng, n), random_text(rng, m))) > 0
