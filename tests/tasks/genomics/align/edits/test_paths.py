"""Edit distances with their CIGARs, in bands and along chains: exact whatever way they took."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.edits import edit_distance as by_definition

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align import edit_distance, edit_paths
from gangsaw.tasks.genomics.align.edits import corridor, edits, long
from gangsaw.tasks.genomics.align.edits.chain import chain, rising
from gangsaw.tasks.genomics.align.sets.alignments import parse_cigar, score_of_cigar
from gangsaw.tasks.genomics.align.sets.pairs import Codes, sequences_of
from gangsaw.tasks.genomics.align.sets.scores import Scores

GLOBAL = (False, False)
UNIT = Scores(1, -1, 0, 1)  # a CIGAR's score is its equal bases without its edits


def bases(rng: np.random.Generator, n: int) -> Codes:
    return rng.integers(0, 4, n).astype(np.uint8)


def mutant(rng: np.random.Generator, codes: Codes, share: float) -> Codes:
    """Some bases others, some left out and some twice."""
    kind = rng.random(codes.size)
    codes = np.where(kind < 0.6 * share, (codes + rng.integers(1, 4, codes.size)) % 4, codes)
    times = np.where(kind > 1 - 0.2 * share, 2, np.where(kind > 1 - 0.4 * share, 0, 1))
    return np.repeat(codes, times).astype(np.uint8)


def set_of(*codes: Codes) -> tuple[Codes, np.ndarray]:
    return np.concatenate(codes), np.cumsum([0, *map(len, codes)])


def in_bands(query: Codes, target: Codes) -> int:
    return long.in_bands(query, target, GLOBAL).distance


def edits_of(cigar: str, query: Codes, target: Codes) -> int:
    """The edits of a CIGAR, which is held against the letters."""
    equal = sum(length for length, letter in parse_cigar(cigar) if letter == "=")
    return equal - score_of_cigar(cigar, query, target, UNIT)


@given(st.lists(st.tuples(st.text("ACGTN", max_size=90), st.text("ACGTn", max_size=90))))
@settings(max_examples=25, deadline=None)
def test_few_pairs_of_any_letters(pairs: list[tuple[str, str]]) -> None:
    queries, targets = [q for q, _ in pairs], [t for _, t in pairs]
    found = edit_paths(queries, targets)
    assert found.distance.tolist() == [by_definition(q, t.upper(), "global") for q, t in pairs]
    for q, t, cigar, k in zip(queries, targets, found.cigar, found.distance, strict=True):
        assert edits_of(cigar, sequences_of(q).codes, sequences_of(t).codes) == k


def test_the_order_of_steps() -> None:
    """From the end: equal bases, then what only the target has, then what only the query has."""
    found = edit_paths(["AC", "A", "CA", "", "AC", "", "N"], ["A", "AC", "AC", "", "", "AC", "N"])
    assert found.cigar == ["1=1I", "1=1D", "1I1=1D", "", "2I", "2D", "1X"]
    assert edit_paths([], []).cigar == []


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("size", [63, 64, 65, 1000, 5000])
def test_sizes_around_words(size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    query = bases(rng, size)
    target = mutant(rng, query, share)
    if size == 1000:
        query, target = target, np.concatenate([bases(rng, 200), target[:700], bases(rng, 9)])
    found = edit_paths(set_of(query), set_of(target))
    assert found.distance.tolist() == edit_distance(set_of(query), set_of(target)).tolist()
    assert edits_of(found.cigar[0], query, target) == found.distance[0]


def _kinds(rng: np.random.Generator) -> list[tuple[str, Codes, Codes]]:
    one = bases(rng, 6016)  # whole words: the first one begins with the query
    repeat = np.concatenate([one[:2000], np.tile(bases(rng, 37), 30), one[2000:4000]])
    moved = np.concatenate([one[:1500], bases(rng, 700), one[1500:3000], one[3600:]])
    some = mutant(rng, one, 0.04)
    some[rng.integers(0, some.size, 40)] = 4
    return [
        ("1 %", one, mutant(rng, one, 0.01)),
        ("10 %", one, mutant(rng, one, 0.1)),
        ("letters that are no bases", one, some),
        ("long gaps", one, mutant(rng, moved, 0.03)),
        ("repeats", repeat, mutant(rng, np.delete(repeat, slice(2100, 2400)), 0.05)),
        ("a noisy stretch", one, np.concatenate([one[:2500], bases(rng, 900), one[3400:]])),
        ("a turned stretch", one, np.concatenate([one[:2500], one[3400:2499:-1], one[3401:]])),
        ("much before the target", one, np.concatenate([bases(rng, 3000), mutant(rng, one, 0.02)])),
        ("much before the query", np.concatenate([bases(rng, 3000), one]), mutant(rng, one, 0.02)),
        ("nothing before the chain", one, np.concatenate([bases(rng, 3000), one])),
        ("nothing before it, turned", np.concatenate([bases(rng, 3000), one]), one),
        ("much behind the target", one, np.concatenate([one, bases(rng, 3000)])),
        ("swapped stretches", one, np.concatenate([one[:1000], one[3000:], one[1000:3000]])),
    ]


@pytest.mark.parametrize("half", [0, 32, 160, 416])
def test_open_areas_tell_less_or_the_distance(half: int) -> None:
    """However narrow: a distance is never exceeded, and is met where steps come back."""
    rng = np.random.default_rng(half)
    proven = 0
    for name, query, target in _kinds(rng):
        way = corridor.corridor(query, target)
        assert way is not None, name
        true = in_bands(query, target)
        way = way._replace(edits=max(way.edits, true))
        area = corridor.open_area(query, target, way, half)
        found = long.fill_area(query, target, area, has_borders=True)
        assert found.distance <= true, name
        steps = corridor.steps_back(query, target, found)
        if steps is not None:
            proven += 1
            assert found.distance == true, name
    assert proven >= (0, 1, 3, 5)[(0, 32, 160, 416).index(half)]


def test_ways_that_are_wrong_prove_nothing() -> None:
    """A corridor beside the best path: what comes out is less than the distance, or None."""
    rng = np.random.default_rng(5)
    query = bases(rng, 4000)
    target = mutant(rng, query, 0.05)
    true = in_bands(query, target)
    way = corridor.corridor(query, target)
    assert way is not None
    for shift in (-900, -300, -100, 100, 300, 900):
        columns = np.clip(way.columns + shift, 0, target.size)
        columns[-1] = target.size
        area = corridor.open_area(query, target, way._replace(columns=columns), 96)
        found = long.fill_area(query, target, area, has_borders=True)
        assert found.distance <= true
        steps = corridor.steps_back(query, target, found)
        assert steps is None or found.distance == true


@pytest.mark.parametrize("size", [2000, 40_000])
def test_the_same_steps_in_bands_and_corridors(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(size)
    queries = [bases(rng, size) for _ in range(3)]
    targets = [mutant(rng, q, share) for q, share in zip(queries, (0.01, 0.05, 0.09), strict=True)]
    for least in ("CORRIDOR", "PATH_CORRIDOR"):
        monkeypatch.setattr(edits, least, 0)
    for query, target in zip(queries, targets, strict=True):
        assert corridor.steps_in_corridor(query, target)
    along = edit_paths(set_of(*queries), set_of(*targets))
    assert edit_distance(set_of(*queries), set_of(*targets)).tolist() == along.distance.tolist()
    monkeypatch.setattr(edits, "PATH_CORRIDOR", 1 << 60)
    banded = edit_paths(set_of(*queries), set_of(*targets))
    assert along.distance.tolist() == banded.distance.tolist()
    assert along.cigar == banded.cigar


def test_pairs_without_a_way_go_through_bands() -> None:
    rng = np.random.default_rng(6)
    query, target = bases(rng, edits.CORRIDOR), bases(rng, 3000)
    assert corridor.corridor(query, target) is None
    found = edit_paths(set_of(query), set_of(target))
    assert found.distance.tolist() == edit_distance(set_of(query), set_of(target)).tolist()
    assert edits_of(found.cigar[0], query, target) == found.distance[0]


def test_a_path_that_takes_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "MOST_TILES", 100)
    rng = np.random.default_rng(7)
    pairs = set_of(bases(rng, 9), bases(rng, 2000)), set_of(bases(rng, 9), bases(rng, 2000))
    with pytest.raises(BadParams, match=r"pair 1: a path of .* request only the distance"):
        edit_paths(*pairs)


@given(st.lists(st.integers(0, 30), max_size=20))
@settings(deadline=None)
def test_the_longest_rising_part(places: list[int]) -> None:
    order = np.empty((3, len(places) + 1), np.int64)
    size = rising(np.array(places, np.int64), len(places), order)
    chosen = order[2, :size].tolist()
    taken = [places[i] for i in chosen]
    assert chosen == sorted(chosen)
    assert taken == sorted(set(taken))
    best = [0] * len(places)
    for i, place in enumerate(places):
        best[i] = 1 + max([best[j] for j in range(i) if places[j] < place], default=0)
    assert size == max(best, default=0)


def test_chains_run_along_the_diagonal() -> None:
    rng = np.random.default_rng(8)
    query = bases(rng, 5000)
    found = chain(query, mutant(rng, query, 0.05))
    assert found.rows.size > 100
    assert np.abs(found.rows - found.columns).max() < 100
    assert 0.3 < found.share < 0.7
    assert chain(query, bases(rng, 5000)).rows.size < 5
    assert chain(query[:9], query).rows.size == 0
