"""Whom the jobs choose by what codecs answer: the highest grade, and of equal ones the smallest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.suits import Answers, ArrayFacts, Grade
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.jobs.choice.choose import GENERAL_CODEC, SAMPLE_CHUNKS, by_content, facts_of
from gangsaw.tasks.store.chunks import ChunkGrid

ARRAY = MemoryArray(np.arange(5000, dtype="u2"), ("x",))
ZSTD = {"name": "zstd", "configuration": {"level": 7, "checksum": False}}


class Graded(Answers):
    """A codec that suits every array alike."""

    def __init__(self, grade: Grade, plain: Mapping[str, Any] | None = None) -> None:
        self.grade, self.plain = grade, plain

    def suits(self, array: ArrayFacts) -> Grade:
        return self.grade

    def companion(self, array: ArrayFacts) -> Mapping[str, Any] | None:
        return self.plain


class Sized:
    """A codec whose frames are of so many bytes, or that fails."""

    def __init__(self, size: int | None) -> None:
        self.size = size

    def from_dict(self, data: Mapping[str, Any]) -> Sized:
        return self

    def encode_chunk(self, sample: np.ndarray[Any, Any]) -> bytes:
        assert sample.dtype == "u2"
        if self.size is None:
            raise BadParams("too small")
        return bytes(self.size)


def chosen(
    monkeypatch: pytest.MonkeyPatch, sizes: Mapping[str, int | None] = {}, **answers: Any
) -> Any:
    monkeypatch.setattr(codec_table, "answers", lambda: answers)
    monkeypatch.setattr(codec_table, "is_usable", lambda name: True)
    monkeypatch.setattr(codec_table, "named_class", lambda name: Sized(sizes.get(name, 0)))
    return by_content(facts_of(ARRAY))


def test_the_highest_grade_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for low, high in zip(list(Grade)[1:], list(Grade)[2:], strict=False):
        choice = chosen(monkeypatch, a=Graded(low), b=Graded(high), c=Graded(low))
        assert (choice.name, choice.plain) == ("b", None)


def test_what_is_only_for_requests_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for grade in (Grade.REFUSE, Grade.ON_REQUEST):
        choice = chosen(monkeypatch, a=Graded(grade))
        assert (choice.name, choice.plain) == (None, GENERAL_CODEC)


def test_a_companion_goes_before_what_is_general_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    companion = Graded(Grade.REFUSE, ZSTD)
    assert chosen(monkeypatch, a=Graded(Grade.GENERAL), b=companion).plain.to_dict() == ZSTD
    assert chosen(monkeypatch, a=Graded(Grade.PROVEN), b=companion).name == "a"
    assert chosen(monkeypatch, a=Graded(Grade.MADE_FOR), b=companion).name == "a"


def test_a_trial_on_a_sample_decides_a_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    same = {name: Graded(Grade.PROVEN) for name in "abcd"}
    assert chosen(monkeypatch, {"a": 9, "b": None, "c": 5, "d": 7}, **same).name == "c"
    assert chosen(monkeypatch, {"a": 5, "b": 5, "c": 5, "d": 5}, **same).name == "a"


def test_a_sample_is_whole_rows_of_the_middle() -> None:
    big = MemoryArray(np.arange(1200 * 1000, dtype="u4").reshape(1200, 1000), ("y", "x"))
    read = facts_of(big).sample
    assert read is not None
    sample = read()
    assert sample.shape == (262, 1000)
    assert sample[0, 0] == 469 * 1000


def test_a_sample_touches_few_chunks() -> None:
    samples = np.arange(300 * 5000, dtype="u4").reshape(300, 5000)
    cases = {(1, 1): (1, 1024), (2, 60): (24, 5000), (300, 3): (85, 3072)}  # chunks: sample
    for chunks, shape in cases.items():
        read = facts_of(MemoryArray(samples, ("y", "x"), chunks=chunks)).sample
        assert read is not None
        sample = read()
        assert sample.shape == shape
        starts = divmod(int(sample[0, 0]), 5000)
        region = tuple(slice(s, s + n) for s, n in zip(starts, shape, strict=True))
        assert len(list(ChunkGrid(samples.shape, chunks).touched(region))) <= SAMPLE_CHUNKS
