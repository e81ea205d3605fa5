"""Edit distances beside the definition and edlib: in batches, long pairs, bands."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import edits

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.align import edit_distance
from gangsaw.tasks.genomics.align.edits import long
from gangsaw.tasks.genomics.align.edits.edits import FREE, LONG

MODES = tuple(FREE)
EDLIB = {"global": "NW", "infix": "HW", "prefix": "SHW"}


def random_text(rng: np.random.Generator, n: int) -> str:
    return "".join(rng.choice(list("ACGT"), n))


def mutant(rng: np.random.Generator, text: str, share: float) -> str:
    """The text with some letters others, some left out and some twice."""
    letters = np.array(list(text))
    turned = rng.random(letters.size) < share
    letters[turned] = rng.choice(list("ACGT"), turned.sum())
    times = rng.choice([0, 1, 2], letters.size, p=[share / 4, 1 - share / 2, share / 4])
    return "".join(np.repeat(letters, times))


def of_edlib(queries: list[str], targets: list[str], mode: str) -> list[int]:
    edlib = pytest.importorskip("edlib", reason="edlib is not installed")
    pairs = zip(queries, targets, strict=True)
    return [edlib.align(*pair, mode=EDLIB[mode], task="distance")["editDistance"] for pair in pairs]


@given(st.lists(st.tuples(st.text("ACGTN", max_size=90), st.text("ACGTn", max_size=90))))
@settings(max_examples=25, deadline=None)
def test_few_pairs_of_any_letters(pairs: list[tuple[str, str]]) -> None:
    queries, targets = [q for q, _ in pairs], [t for _, t in pairs]
    for mode in MODES:
        expected = [edits.edit_distance(q, t.upper(), mode) for q, t in pairs]
        assert edit_distance(queries, targets, mode).tolist() == expected


@pytest.mark.parametrize("mode", MODES)
def test_pairs_of_all_sizes(mode: str) -> None:
    """Several words, some lanes left over, targets that end in other words than the longest."""
    rng = np.random.default_rng(1)
    queries = [random_text(rng, n) for n in rng.integers(1, 300, 150)]
    targets = [random_text(rng, 9) + mutant(rng, q, 0.1) for q in queries[:100]]
    targets += [random_text(rng, n) for n in rng.integers(1, 300, 50)]
    found = edit_distance(queries, targets, mode)
    assert found.tolist() == of_edlib(queries, targets, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("band", [3, long.FIRST_BAND])
def test_long_pairs(mode: str, band: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Narrow first bands are doubled until the distance fits."""
    monkeypatch.setattr(long, "FIRST_BAND", band)
    rng = np.random.default_rng(2)
    queries = [random_text(rng, n) for n in rng.integers(LONG + 1, 2 * LONG, 12)]
    targets = [
        mutant(rng, q, share) for q, share in zip(queries[:6], np.arange(6) / 30, strict=True)
    ]
    targets += [random_text(rng, 400) + mutant(rng, queries[6], 0.02) + random_text(rng, 77)]
    targets += [queries[7][300:], queries[8][:-300], random_text(rng, 40)]
    targets += [random_text(rng, n) for n in rng.integers(LONG, 3 * LONG, 2)]
    found = edit_distance(queries, targets, mode)
    assert found.tolist() == of_edlib(queries, targets, mode)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [LONG, LONG + 1, LONG + 63, LONG + 64])
def test_where_long_begins(mode: str, size: int) -> None:
    """A hand-made distance: one letter other, two left out, and what no mode gives for nothing."""
    query = "ACGT" * (size // 4) + "A" * (size % 4)
    target = "T" + query[1:500] + query[502:]
    assert edit_distance([query], [target], mode).tolist() == [3]
    assert edit_distance([query], [query], mode).tolist() == [0]


def test_empty_sequences() -> None:
    queries, targets = ["", "", "ACG", "N"], ["", "AC", "", "N"]
    assert edit_distance(queries, targets).tolist() == [0, 2, 3, 1]
    assert edit_distance(queries, targets, "infix").tolist() == [0, 0, 3, 1]
    assert edit_distance(queries, targets, "prefix").tolist() == [0, 0, 3, 1]
    assert edit_distance([], []).size == 0


def test_slices_of_longer_codes() -> None:
    """Offsets that begin and end inside the codes: what lies around them does not count."""
    codes = np.array([4, 4, 0, 1, 2, 3, 3, 0, 4], np.uint8)
    one = (codes, np.array([2, 5, 8]))
    assert edit_distance(one, ["ACG", "TTA"]).tolist() == [0, 0]
    assert edit_distance(["TACGT", "TT"], one, "prefix").tolist() == [2, 0]


@pytest.mark.parametrize(("given_mode", "message"), [("local", "mode must be one of"), (3, "mode")])
def test_an_unknown_mode(given_mode: str, message: str) -> None:
    with pytest.raises(BadParams, match=message):
        edit_distance(["A"], ["A"], given_mode)
