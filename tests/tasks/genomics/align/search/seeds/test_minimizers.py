"""Minimizers and their index against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.search import minimizers as defined
from reference.search import reverse_complement

from gangsaw.tasks.genomics.align.search.seeds.index import PLACE_MASK, build_seed_index, look_up
from gangsaw.tasks.genomics.align.search.seeds.minimizers import TILE, Minimizers, Seeds, minimizers
from gangsaw.tasks.genomics.align.sets.pairs import sequences_of

TEXTS = st.text("ACGTN", max_size=90) | st.text("AC", max_size=60)


def found(text: str, seeds: Seeds) -> Minimizers:
    codes = sequences_of([text]).codes
    return minimizers(codes, 0, codes.size, seeds)


def rows(text: str, seeds: Seeds) -> list[tuple[int, int, bool]]:
    own = found(text, seeds)
    places = own.positions.tolist()
    return [(h, p >> 1, bool(p & 1)) for h, p in zip(own.hashes.tolist(), places, strict=True)]


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.sampled_from([(7, 1), (7, 4), (9, 10), (15, 10), (15, 17)]))
def test_they_are_as_defined(text: str, seeds: tuple[int, int]) -> None:
    assert rows(text, Seeds(*seeds)) == defined(text, *seeds)


def test_they_are_as_defined_across_tiles() -> None:
    rng = np.random.default_rng(1)
    text = "".join(rng.choice(list("ACGT"), 2 * TILE + 300))
    assert rows(text, Seeds(15, 10)) == defined(text, 15, 10)


@settings(max_examples=50, deadline=None)
@given(TEXTS)
def test_the_other_strand_has_the_same(text: str) -> None:
    seeds, n = Seeds(7, 5), len(text)
    turned = rows(reverse_complement(text), seeds)
    assert rows(text, seeds) == [(h, n - 7 - i, not back) for h, i, back in reversed(turned)]


@settings(max_examples=50, deadline=None)
@given(st.text("AC", min_size=40, max_size=200) | st.text("ACGT", min_size=40, max_size=200))
def test_the_index_has_all_places_of_a_hash_and_no_others(text: str) -> None:
    seeds = Seeds(7, 3)
    index, own = build_seed_index(sequences_of([text]).codes, seeds), found(text, seeds)
    for word in (*np.unique(own.hashes), 5):
        first, end = look_up(index, word)
        places = index.entries[first:end] & np.uint64(PLACE_MASK)
        assert places.tolist() == sorted(own.positions[own.hashes == word].tolist())
