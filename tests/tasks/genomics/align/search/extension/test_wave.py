"""Cells of a band by vectors, in 16 and 32 bits, against a plain table with paths as text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from reference.search import banded

from gangsaw.tasks.genomics.align.search.extension import wave
from gangsaw.tasks.genomics.align.search.extension.band import global_path, local_path, traced_back
from gangsaw.tasks.genomics.align.search.extension.paths import (
    OP_BITS,
    OP_CHARACTERS,
    OP_MASK,
    PathCosts,
)
from gangsaw.tasks.genomics.align.sets.pairs import sequences_of

SCORES = st.sampled_from([(2, -3, 5, 2), (1, -1, 0, 1), (5, -4, 10, 1), (1, -4, 6, 1)])


@njit
def filled(query, text, band, costs, is_local, kind):  # type: ignore[no-untyped-def]
    lines = np.empty(wave.scratch_size(query.size, text.size, band), kind.dtype)
    cells = np.empty(wave.cells_size(query.size, text.size, band), np.uint8)
    end = wave.fill_band(query, text, band, costs, is_local, cells, lines)
    runs = np.empty(query.size + text.size + 1, np.int64)
    return traced_back(query, text, band, costs, cells, end, runs), end


def codes(text: str) -> np.ndarray:
    return sequences_of([text]).codes


def spelled(runs: np.ndarray) -> str:
    return "".join(OP_CHARACTERS[run & OP_MASK] * (run >> OP_BITS) for run in runs.tolist())


@pytest.mark.parametrize("item", [np.int16, np.int32])
@settings(max_examples=60, deadline=None)
@given(
    query=st.text("ACN", min_size=1, max_size=30),
    text=st.text("ACN", min_size=1, max_size=50),
    beside=st.tuples(st.integers(0, 40), st.integers(0, 40)),
    scores=SCORES,
    is_local=st.booleans(),
)
def test_scores_ends_and_paths_are_those_of_the_table(
    item: type, query: str, text: str, beside: tuple[int, int], scores: tuple, is_local: bool
) -> None:
    n, m = len(query), len(text)
    band = max(-n, min(0, m - n) - beside[0]), min(m, max(0, m - n) + beside[1])
    costs = PathCosts(scores[0], -scores[1], scores[2], scores[3])
    kind = np.empty(0, item)
    (score, _, _, runs), end = filled(codes(query), codes(text), band, costs, int(is_local), kind)
    assert (score, tuple(end[1:]), spelled(runs)) == banded(query, text, band, scores, is_local)


def test_scores_beyond_16_bits_are_exact() -> None:
    text = "ACGTTGCA" * 40
    query, costs = text[:150] + text[153:], PathCosts(900, 900, 2000, 100)
    assert global_path(codes(query), codes(text), costs)[0] == 317 * 900 - 2300
    assert local_path(codes(query), codes(text), (0, 0), costs, 0)[0] == 317 * 900 - 2300
