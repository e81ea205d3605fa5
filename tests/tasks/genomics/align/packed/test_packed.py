"""The paper's alignments on packed bytes beside its rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import packed_alignment

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align import gapped, ungapped
from gangsaw.tasks.genomics.align.packed import with_gaps
from gangsaw.tasks.genomics.align.packed.bases import PackedBases, packed_of, unpack_sequence

BASES = st.text("ACGT", max_size=150)
READINGS = ("A", "B")


@st.composite
def relatives(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts with something in common, the second one moved by some bases."""
    text = np.array(list(draw(st.text("ACGT", min_size=1, max_size=60)) * draw(st.integers(1, 9))))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    other = text.copy()
    turned = rng.random(text.size) < draw(st.sampled_from([0, 0.03, 0.2, 0.5]))
    other[turned] = rng.choice(list("ACGT"), turned.sum())
    cut = draw(st.integers(0, 9))
    return "".join(text), draw(st.text("ACGT", max_size=7)) + "".join(other[cut:])


@given(relatives(), st.data())
@settings(max_examples=80, deadline=None)
def test_ungapped_is_the_rule(pair: tuple[str, str], data: st.DataObject) -> None:
    """Seeds of all phases, any brink, both readings."""
    query, target = pair
    place = st.tuples(st.integers(0, len(query)), st.integers(0, len(target)))
    seeds = [*data.draw(st.lists(place, min_size=1, max_size=4)), (0, 0)]
    seeds.append((len(query) // 2, min(len(query) // 2, len(target))))
    brink = data.draw(st.integers(0, 40))
    for reading in READINGS:
        places = np.array(seeds).T
        found = ungapped(query, target, (places[0], places[1]), brink, reading)
        for i, seed in enumerate(seeds):
            score, ahead, back = packed_alignment.ungapped(query, target, seed, brink, reading)
            assert found.score[i] == score
            assert found.query_start[i] == seed[0] - back
            assert found.query_end[i] == seed[0] + ahead
            assert found.target_start[i] == seed[1] - back
            assert found.target_end[i] == seed[1] + ahead


def test_a_long_extension_stops_where_it_should() -> None:
    """Thousands of equal words, then random bases: only the word form's own state goes so far."""
    rng = np.random.default_rng(3)
    same = "".join(rng.choice(list("ACGT"), 40_001))
    rest = ["".join(rng.choice(list("ACGT"), 4_000)) for _ in range(2)]
    query, target = same + rest[0], "AC" + same + rest[1]
    found = ungapped(query, target, (np.array([1]), np.array([3])))
    score, ahead, back = packed_alignment.ungapped(query, target, (1, 3), 20, "B")
    assert (found.score[0], found.query_end[0], found.query_start[0]) == (
        score,
        1 + ahead,
        1 - back,
    )
    assert score >= 40_000


@given(BASES, BASES, st.integers(0, 5), st.integers(0, 3))
@settings(max_examples=30, deadline=None)
def test_gapped_is_the_recurrence(query: str, other: str, opening: int, longer: int) -> None:
    target = other[:20] + query[7:40] + query[47:] + other[20:40]
    for reading in READINGS:
        for local in (True, False):
            expected = packed_alignment.gapped(query, target, reading, local, (opening, longer))
            assert gapped(query, target, reading, local, opening, longer) == expected


def test_scores_that_16_bits_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is met on the way, at the end, or not at all: the score is the same."""
    rng = np.random.default_rng(4)
    query = "".join(rng.choice(list("ACGT"), 9_000))
    short, long = gapped(query, query), gapped(3 * query, 3 * query)
    assert (short, long) == (9_000, 27_000)
    monkeypatch.setattr(with_gaps, "MOST_16", 8_999)
    assert gapped(query, query) == short


def test_scores_far_below_0() -> None:
    """With no clamp, in 16 bits or in 32."""
    for n in (2_000, 12_000):
        assert gapped("A" * n, "C" * 40, local=False) == 0
        assert gapped("A" * n, "A" * 40, local=False) == 40


@given(st.text("ACGTacgtN", max_size=40))
def test_packing(text: str) -> None:
    packed = packed_of(text)
    letters = "".join("ACGT"[code] for code in unpack_sequence(packed).codes)
    assert letters == text.upper().replace("N", "A")
    assert packed.data.size == -(-len(text) // 4)


AT = np.array([0])


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ((AT, np.array([5])), "seed 0: base 5 of the target is not in 0..4"),
        ((AT - 1, AT), "base -1 of the query"),
        ((AT, np.array([0, 1])), "two arrays of equal length"),
        ((AT, AT + 0.5), "must be integers"),
    ],
)
def test_wrong_seeds(seeds: tuple[np.ndarray, np.ndarray], message: str) -> None:
    with pytest.raises(BadParams, match=message):
        ungapped("ACGT", "ACGT", seeds)


def test_wrong_parameters() -> None:
    with pytest.raises(BadParams, match="reading must be one of A, B"):
        gapped("ACGT", "ACGT", "C")
    with pytest.raises(BadParams, match="brink"):
        ungapped("ACGT", "ACGT", (AT, AT), -1)
    with pytest.raises(BadParams, match="2 bytes hold no 9 bases"):
        gapped(PackedBases(np.zeros(2, np.uint8), 9), "ACGT")
    with pytest.raises(BadParams, match="1-D array of uint8"):
        gapped("ACGT", PackedBases(np.zeros(2), 8))
    with pytest.raises(BadParams, match="gap_open"):
        gapped("ACGT", "ACGT", gap_open=101)
    assert ungapped("ACGT", "ACGT", ([], [])).score.size == 0  # type: ignore[arg-type]
