"""Alignments in bands and by extension against plain tables of all cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import search as plain
from reference.search import from_start, touching

from gangsaw.tasks.genomics.align.search.extension.band import global_path, local_path
from gangsaw.tasks.genomics.align.search.extension.extend import extended
from gangsaw.tasks.genomics.align.search.extension.paths import PathCosts, score_of
from gangsaw.tasks.genomics.align.search.extension.place import align_whole, lengths, section
from gangsaw.tasks.genomics.align.sets.pairs import sequences_of

SCORES = st.sampled_from([(2, -3, 5, 2), (1, -1, 0, 1), (5, -4, 10, 1)])
LETTERS = "ACN"


def costs(scores: tuple[int, int, int, int]) -> PathCosts:
    return PathCosts(scores[0], -scores[1], scores[2], scores[3])


def codes(text: str) -> np.ndarray:
    return sequences_of([text]).codes


@settings(max_examples=80, deadline=None)
@given(
    st.text(LETTERS, min_size=1, max_size=24),
    st.text(LETTERS, min_size=1, max_size=30),
    st.integers(-20, 28),
    st.integers(0, 4),
    SCORES,
)
def test_no_alignment_that_touches_the_diagonals_is_better(
    query: str, text: str, low: int, width: int, scores: tuple[int, int, int, int]
) -> None:
    low = max(-len(query), min(low, len(text)))
    span = (low, min(low + width, len(text)))
    own = costs(scores)
    score, across, along, runs = local_path(codes(query), codes(text), span, own, 0)
    assert score >= touching(query, text, span, scores)
    assert score == score_of(runs, own)
    assert lengths(runs) == (across[1] - across[0], along[1] - along[0])


@settings(max_examples=60, deadline=None)
@given(
    st.text("ACGT", min_size=20, max_size=20),
    st.integers(0, 19),
    st.text("ACGT", max_size=6),
)
def test_a_whole_query_is_aligned_as_well_as_its_diagonal_allows(
    query: str, at: int, inserted: str
) -> None:
    scores = (2, -3, 5, 2)
    text = query[:at] + inserted + query[at:]
    bounds = (0, len(text))
    score, *_ = align_whole(codes(query), codes(text), bounds, (0, 0), costs(scores))
    assert score >= touching(query, text, (0, 0), scores)


@settings(max_examples=80, deadline=None)
@given(st.text(LETTERS, min_size=1, max_size=40), st.text(LETTERS, min_size=1, max_size=40), SCORES)
def test_sections_and_ends_are_the_best(
    query: str, text: str, scores: tuple[int, int, int, int]
) -> None:
    table, own = from_start(query, text, scores), costs(scores)
    score, _, _, runs = global_path(codes(query), codes(text), own)
    assert score == score_of(runs, own) == table[-1][-1]
    assert score_of(section(codes(query), codes(text), own), own) == table[-1][-1]
    i, j, back = extended(codes(query), codes(text), own, 1 << 20)
    assert score_of(back, own) == max(map(max, table)) == table[i][j]
    assert lengths(back) == (i, j)


def test_unknown_bases_are_free_where_costs_say_so() -> None:
    rng = np.random.default_rng(3)
    pair = plain.pair
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "pair", lambda a, b, s: 0 if "N" in (a, b) else pair(a, b, s))
        for _ in range(60):
            sizes = rng.integers(1, 40, 2)
            query, text = ("".join(rng.choice(list("ACGNN"), n)) for n in sizes)
            table, own = from_start(query, text, (2, -3, 5, 2)), PathCosts(2, 3, 5, 2, 1)
            score, _, _, runs = global_path(codes(query), codes(text), own)
            assert score == score_of(runs, own) == table[-1][-1]
            i, j, back = extended(codes(query), codes(text), own, 1 << 20)
            assert score_of(back, own) == max(map(max, table)) == table[i][j]


def test_an_extension_stops_where_the_score_has_dropped() -> None:
    query = "A" * 10 + "C" * 20 + "A" * 90
    text = "A" * 10 + "G" * 20 + "A" * 90
    own = PathCosts(2, 3, 5, 2)
    assert extended(codes(query), codes(text), own, 40)[:2] == (10, 10)
    assert extended(codes(query), codes(text), own, 100)[:2] == (120, 120)
