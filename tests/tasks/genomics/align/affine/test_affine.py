"""Local alignment and alignment from end to end: against the definition, and parasail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reference import affine

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.genomics.align import Scores, needleman_wunsch, smith_waterman
from gangsaw.tasks.genomics.align.affine import ends, paths
from gangsaw.tasks.genomics.align.sets.alignments import Alignments, score_of_cigar
from gangsaw.tasks.genomics.align.sets.pairs import sequences_of

SCORES = (
    Scores(),
    Scores(1, -1, 0, 1),
    Scores(1, 0, 0, 0),
    Scores(5, -4, 10, 0),
    Scores(3, -90, 2, 1),
)
WIDE = Scores(100, -100, 100, 100)  # 8 bits are not tried, and strips take 32 bits


def drawn(n: int, seed: int, share: float = 0.0, of: str = "") -> str:
    """A random sequence; or another one with some bases changed, lost and put in."""
    rng = np.random.default_rng(seed)
    if not of:
        return "".join(rng.choice(list("ACGT"), n))
    bases = []
    for base in of:
        kind = rng.random() / share if share else 9
        changed = str(rng.choice(list("ACGT")))
        bases.append(changed if kind < 0.6 else "" if kind < 0.8 else base)
        bases.append(changed if 0.8 <= kind < 1 else "")
    return "".join(bases)


def costs_of(scores: Scores) -> affine.Costs:
    return affine.Costs(scores.match, scores.mismatch, scores.gap_open, scores.gap_extend)


def places(found: Alignments) -> list[tuple[int, ...]]:
    columns = zip(*(part.tolist() for part in found[:5]), strict=True)
    return [tuple(row) for row in columns]


def check(queries: list[str], targets: list[str], scores: Scores) -> None:
    """Both functions give what the definition gives, places and CIGARs with it."""
    costs = costs_of(scores)
    local = smith_waterman(queries, targets, scores, cigar=True)
    whole = needleman_wunsch(queries, targets, scores, cigar=True)
    assert local.cigar is not None
    assert whole.cigar is not None
    expected = [affine.local(q, t, costs) for q, t in zip(queries, targets, strict=True)]
    assert places(local) == expected
    for i, (query, target) in enumerate(zip(queries, targets, strict=True)):
        _, a, b, c, d = expected[i]
        assert local.cigar[i] == affine.end_to_end(query[a:b], target[c:d], costs)[1]
        assert (whole.score[i], whole.cigar[i]) == affine.end_to_end(query, target, costs)
        assert places(whole)[i][1:] == (0, len(query), 0, len(target))


LETTERS = st.sampled_from(["A", "AC", "ACGT", "ACGTN", "acNx"])
SOME = LETTERS.flatmap(lambda letters: st.text(letters, max_size=9))
COST = st.integers(0, 100)
PAIRS = st.lists(st.tuples(SOME, SOME), min_size=1, max_size=6)


@settings(max_examples=25, deadline=None)
@given(pairs=PAIRS, scores=st.sampled_from(SCORES))
def test_any_pairs_are_aligned_as_defined(pairs: list[tuple[str, str]], scores: Scores) -> None:
    check([q.upper() for q, _ in pairs], [t.upper() for _, t in pairs], scores)


def test_full_batches_of_lanes_are_aligned_as_defined() -> None:
    """Lanes are used for many pairs alone; of different lengths, and empty ones among them."""
    rng = np.random.default_rng(1)
    queries = [drawn(int(n), i) for i, n in enumerate(rng.integers(0, 12, 70))]
    targets = [drawn(int(n), 99 + i) for i, n in enumerate(rng.integers(0, 12, 70))]
    for scores in SCORES[:3]:
        check(queries, targets, scores)


@pytest.mark.full
@settings(max_examples=500, deadline=None)
@given(pairs=PAIRS, scores=st.builds(Scores, st.integers(1, 100), st.integers(-100, 0), COST, COST))
def test_any_scores_are_taken(pairs: list[tuple[str, str]], scores: Scores) -> None:
    check([q.upper() for q, _ in pairs], [t.upper() for _, t in pairs], scores)


@pytest.mark.full
def test_scores_that_need_32_bits() -> None:
    check([drawn(20, 1), drawn(9, 2)], [drawn(25, 3), drawn(9, 2)], WIDE)
    target = drawn(700, 5)
    query = drawn(0, 6, 0.1, target)
    recomputed(query, target, WIDE)


def recomputed(query: str, target: str, scores: Scores) -> Alignments:
    """A local alignment whose CIGAR has its score and spans it; the same of the whole pair."""
    found = smith_waterman(query, target, scores, cigar=True)
    whole = needleman_wunsch(query, target, scores, cigar=True)
    q, t = sequences_of(query).codes, sequences_of(target).codes
    ((score, a, b, c, d),) = places(found)
    assert found.cigar is not None
    assert whole.cigar is not None
    assert score_of_cigar(found.cigar[0], q[a:b], t[c:d], scores) == score
    assert score_of_cigar(whole.cigar[0], q, t, scores) == whole.score[0]
    return found


# just below and above what 8 and 16 bits hold, with one base more at a time
@pytest.mark.parametrize("n", [*range(238, 252), 650])
def test_scores_around_the_limit_of_8_bits(n: int) -> None:
    queries = [drawn(n, seed) for seed in range(40)]
    targets = [f"TT{query}A" for query in queries]
    found = smith_waterman(queries, targets, Scores(1, -1, 2, 1))
    assert places(found) == [(n, 0, n, 2, n + 2)] * 40


def test_all_ends_in_late_strips() -> None:
    """Numbers of strips above 127, in 8 bits: every pair of a vector ends there."""
    rng = np.random.default_rng(16)
    queries = ["".join(rng.choice(list("ACGT"), 20)) for _ in range(70)]
    targets = ["N" * (700 + i) + query for i, query in enumerate(queries)]
    found = smith_waterman(queries, targets)
    assert found.target_start.tolist() == [700 + i for i in range(70)]
    assert found.target_end.tolist() == [720 + i for i in range(70)]
    assert found.query_end.tolist() == [20] * 70


@pytest.mark.parametrize("n", [651, 652, 653, 654, 655, 656])
def test_scores_around_the_limit_of_16_bits(n: int) -> None:
    queries = [drawn(n, seed) for seed in range(16)]
    scores = Scores(100, -4, 10, 2)
    found = smith_waterman(queries, queries, scores)
    assert places(found) == [(100 * n, 0, n, 0, n)] * 16


def test_lanes_and_strips_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """On which pairs are aligned in lanes no result depends; rows in more than one chunk of 256."""
    targets = [drawn(560 + i, i) for i in range(40)]
    queries = [drawn(0, 77 + i, 0.02 * (i % 8), target) for i, target in enumerate(targets)]
    in_lanes = places(smith_waterman(queries, targets))
    monkeypatch.setattr(ends, "LONGEST", 0)
    assert places(smith_waterman(queries, targets)) == in_lanes
    alone = [places(smith_waterman(q, t))[0] for q, t in zip(queries, targets, strict=True)]
    assert alone == in_lanes


def test_threads_change_nothing() -> None:
    targets = [drawn(30 + i % 7, i) for i in range(150)]
    queries = [drawn(0, i, 0.2, target) for i, target in enumerate(targets)]
    made = []
    for threads in (1, 3):
        set_thread_limit(threads)
        try:
            made.append(smith_waterman(queries, targets, cigar=True))
        finally:
            set_thread_limit(None)
    assert places(made[0]) == places(made[1])
    assert made[0].cigar == made[1].cigar


def test_tiles_change_no_way_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles within tiles find the way that marks of all cells show."""
    target = drawn(900, 3)
    query = drawn(0, 4, 0.3, target) + drawn(150, 5)
    found = recomputed(query, target, Scores())
    whole = needleman_wunsch(query, target, cigar=True)
    monkeypatch.setattr(paths, "MARKS", 1 << 15)
    monkeypatch.setattr(paths, "SIDE", 64)
    monkeypatch.setattr(paths, "BORDERS", 1 << 16)
    assert needleman_wunsch(query, target, cigar=True).cigar == whole.cigar
    assert smith_waterman(query, target, cigar=True).cigar == found.cigar


def test_tiles_within_tiles_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above goes through several floors of tiles."""
    monkeypatch.setattr(paths, "BORDERS", 1 << 16)
    monkeypatch.setattr(paths, "SIDE", 64)
    assert 64 < paths._side(1024, 1024) < 1024


def test_a_pair_without_a_match_is_nothing() -> None:
    found = smith_waterman(["A", "N", "", "ACGT"], ["C", "N", "ACGT", ""], cigar=True)
    assert places(found) == [(0, 0, 0, 0, 0)] * 4
    assert found.cigar == [""] * 4


def test_no_pairs_at_all() -> None:
    for function in (smith_waterman, needleman_wunsch):
        found = function([], [], cigar=True)
        assert found.score.shape == (0,)
        assert found.score.dtype == np.int32
        assert found.cigar == []


def test_pairs_that_are_too_long_for_the_scores_are_refused() -> None:
    codes = np.zeros(1 << 23, np.uint8)
    given = codes, np.array([0, codes.size])
    with pytest.raises(BadParams, match="pair 0 is too long for these scores"):
        needleman_wunsch(given, given, WIDE)


def test_as_many_queries_as_targets() -> None:
    with pytest.raises(BadParams, match="as many queries as targets, got 2 and 1"):
        smith_waterman(["A", "C"], ["A"])


@pytest.mark.parametrize("share", [0.05, 0.3, 1.0])
def test_long_pairs_as_parasail_has_them(share: float) -> None:
    """Scores of several blocks of steps; parasail may tell another end of the same score."""
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    target = drawn(2500, 8)
    query = drawn(0, 9, share, target)
    matrix = parasail.matrix_create("ACGT", 2, -3)
    found = recomputed(query, target, Scores())
    assert found.score[0] == parasail.sw_scan_32(query, target, 7, 2, matrix).score
    whole = parasail.nw_scan_32(query, target, 7, 2, matrix).score
    assert needleman_wunsch(query, target).score[0] == whole


def test_many_pairs_as_parasail_has_them() -> None:
    parasail = pytest.importorskip("parasail", reason="parasail is not installed")
    matrix = parasail.matrix_create("ACGT", 1, -2)
    targets = [drawn(150 + i, i) for i in range(100)]
    queries = [drawn(0, i, 0.004 * i, target)[20:] for i, target in enumerate(targets)]
    scores = Scores(1, -2, 2, 1)
    found = smith_waterman(queries, targets, scores)
    whole = needleman_wunsch(queries, targets, scores)
    for i, (query, target) in enumerate(zip(queries, targets, strict=True)):
        assert found.score[i] == parasail.sw_scan_16(query, target, 3, 1, matrix).score
        assert whole.score[i] == parasail.nw_scan_16(query, target, 3, 1, matrix).score


def test_a_view_of_many_sequences_is_taken() -> None:
    """Offsets need not begin at 0, and arrays of other layouts are fine."""
    codes: NDArray[np.uint8] = np.repeat(sequences_of("GGACGTAACGTT").codes, 2)[::2]
    found = smith_waterman((codes, np.array([2, 6, 11])), ["ACGT", "ACGT"], cigar=True)
    assert places(found) == [(8, 0, 4, 0, 4), (8, 1, 5, 0, 4)]
    assert found.cigar == ["4=", "4="]
