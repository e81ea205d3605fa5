"""Sequences as codes, CIGARs and scores: what all alignments share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics import align
from gangsaw.tasks.genomics.align import Scores
from gangsaw.tasks.genomics.align.sets.alignments import merge_matches, parse_cigar, score_of_cigar
from gangsaw.tasks.genomics.align.sets.pairs import decode_texts, sequences_of
from gangsaw.tasks.genomics.sequences.ragged import Ragged

TEXTS = st.lists(st.text("ACGTN", max_size=12), max_size=5)


@given(texts=TEXTS)
def test_texts_come_back(texts: list[str]) -> None:
    assert decode_texts(sequences_of(texts)) == texts
    assert decode_texts(sequences_of([text.lower().encode() for text in texts])) == texts


@given(texts=TEXTS)
def test_codes_of_a_set_are_no_letters(texts: list[str]) -> None:
    own = sequences_of(["GG", *texts])
    for later in (own[1:], (own.codes, own.offsets[1:])):
        assert decode_texts(sequences_of(later)) == texts
    lines = Ragged.from_rows([np.frombuffer(text.encode(), np.uint8) for text in texts])
    assert decode_texts(sequences_of(lines)) == texts


def test_one_text_of_any_kind_is_one_sequence() -> None:
    for text in ("AC", b"AC", np.frombuffer(b"AC", np.uint8)):
        assert decode_texts(sequences_of(text)) == ["AC"]
    assert sequences_of("Aé-RUu").codes.tolist() == [0, 4, 4, 4, 3, 3]


def test_texts_of_several_kinds_in_one_list() -> None:
    """Joined at once, and codes that can be written to: kernels take one kind of array."""
    found = sequences_of(["Aé", b"cN", np.frombuffer(b"GxT-", np.uint8)[::2], ""])
    assert found.codes.tolist() == [0, 4, 1, 4, 2, 3]
    assert found.offsets.tolist() == [0, 2, 4, 6, 6]
    for texts in (["AC", "G"], [b"A"], [], [""]):
        assert sequences_of(texts).codes.flags.writeable


def test_the_text_that_is_none_is_named() -> None:
    with pytest.raises(BadParams, match=r"reads\[2\] must be str, bytes or"):
        sequences_of(["A", "C", 3], "reads")  # type: ignore[list-item]


CODES = np.array([0, 3], np.uint8)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((CODES + 2, np.array([0, 2])), "codes must be"),
        ((CODES.astype(np.int16), np.array([0, 2])), "codes must be"),
        ((CODES, np.array([0, 3])), "offsets must not fall, from 0 to at most 2"),
        ((CODES, np.array([-1, 2])), "offsets must not fall"),
        ((CODES, np.array([2, 1])), "offsets must not fall"),
        ((CODES, np.array([0, 2], np.int32)), "offsets must be"),
        ((CODES, np.array([], np.int64)), "offsets must be"),
        (("AC", "GT", "A"), "codes and offsets, or a list of texts"),
        ([1], r"sequences\[0\] must be str, bytes or"),
    ],
)
def test_what_is_no_set_is_refused(given: object, message: str) -> None:
    with pytest.raises(BadParams, match=message):
        sequences_of(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [{"match": 0}, {"match": 101}, {"mismatch": 1}, {"gap_open": -1}, {"gap_extend": 2.0}],
)
def test_scores_outside_their_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(BadParams, match=next(iter(wrong))):
        Scores(**wrong)


def test_a_cigar_is_scored() -> None:
    query, target = sequences_of("ACGTN").codes, sequences_of("AGTTTN").codes
    # A=A, C alone, G=G, T=T, TT alone, N beside N
    assert score_of_cigar("1=1I2=2D1X", query, target, Scores()) == 6 - 7 - 9 - 3
    assert score_of_cigar("1M1I2M2D1M", query, target, Scores()) == 6 - 7 - 9 - 3
    assert merge_matches("1=1X1I2=1X") == "2M1I3M"
    assert parse_cigar("") == []


@pytest.mark.parametrize(
    ("cigar", "message"),
    [
        ("1=", "spans 1 and 1 bases, not 2 and 2"),
        ("3M", "spans 3 and 3"),
        ("2X", "wrong step at base 0"),
        ("1=1=", "wrong step at base 1"),
        ("1S1M", "not a CIGAR"),
        ("0M2M", "not a CIGAR"),
    ],
)
def test_a_cigar_that_lies_is_refused(cigar: str, message: str) -> None:
    query, target = sequences_of("AC").codes, sequences_of("AG").codes
    with pytest.raises(BadParams, match=message):
        score_of_cigar(cigar, query, target, Scores())


def test_names_are_found_at_their_first_use() -> None:
    assert align.smith_waterman.__module__ == "gangsaw.tasks.genomics.align.affine.affine"
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        align.other  # noqa: B018
