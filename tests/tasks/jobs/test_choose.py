"""Whom the jobs choose by what codecs answer: the highest grade, and of equal ones the smallest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pytest

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.selection import ArrayFacts, Capabilities, Grade
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.choice.choose import (
    GENERAL_CODEC,
    SAMPLE_CHUNKS,
    choose_by_content,
    facts_of,
)
from gangsaw.tasks.store.arrays.chunks import ChunkGrid

ARRAY = MemoryArray(np.arange(5000, dtype="u2"), ("x",))
ZSTD = {"name": "zstd", "configuration": {"level": 7, "checksum": False}}


class Graded(Capabilities):
    """A codec that suits every array alike."""

    def __init__(self, grade: Grade, plain: Mapping[str, Any] | None = None) -> None:
        self.level, self.plain = grade, plain

    def grade(self, array: ArrayFacts) -> Grade:
        return self.level

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
    monkeypatch: pytest.MonkeyPatch, sizes: Mapping[str, int | None] = {}, **capabilities: Any
) -> Any:
    monkeypatch.setattr(codec_table, "capabilities", lambda: capabilities)
    monkeypatch.setattr(codec_table, "is_usable", lambda name: True)
    monkeypatch.setattr(codec_table, "named_class", lambda name: Sized(sizes.get(name, 0)))
    return choose_by_content(facts_of(ARRAY))


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
        assert len(list(ChunkGrid(samples.shape, chunks).overlapping(region))) <= SAMPLE_CHUNKS


def noise(n: int, most: int) -> Any:
    return np.random.default_rng(3).integers(0, most, n)


def surface() -> Any:
    y, x = np.mgrid[:256, :512]
    return (1000 * np.sin(y / 40) * np.cos(x / 50) + noise(y.size, 4).reshape(y.shape)).round()


def fields() -> Any:
    """Numbers of fields of a map, which neighbours do not tell."""
    y, x = np.mgrid[:256, :512]
    return noise(4000, 1 << 24)[(y // 23) * 40 + x // 37]


def categories(n: int) -> Any:
    return np.random.default_rng(4).choice([1, 5, 7, 12, 900], n, p=[0.5, 0.2, 0.1, 0.1, 0.1])


def reflectance(dtype: str, spoiled: float | None = None) -> Any:
    z, y, x = np.indices((6, 60, 70))
    counts = 500 + 90 * z + 21 * y + 13 * x + noise(z.size, 40).reshape(z.shape)
    found = counts.astype(dtype) / np.dtype(dtype).type(10000)
    if spoiled is not None:
        found[2, 10, 20:25] = spoiled
    return found


# what an array holds: the codec that a sample chooses, with the filter of a plain one
SAMPLED: dict[str, tuple[Any, str]] = {
    "times": (np.arange(20000) * 3600, "blosc bitshuffle"),
    "times of another unit": (np.arange(20000).astype("M8[s]"), "blosc bitshuffle"),
    "numbers of no order": (noise(20000, 1 << 62), "zstd"),
    "few categories": (categories(50000), "gangsaw.bwt"),
    "few categories of a map": (categories(65536).reshape(256, 256), "gangsaw.bwt"),
    "too few to ask": (categories(1000), "zstd"),
    "a surface": (surface().astype("i4"), "gangsaw.ccsds123"),
    "a map of fields": (fields().astype("i4"), "blosc shuffle"),
    "a map of fields, unsigned": (fields().astype("u4"), "blosc shuffle"),
    "a map of fields, wide": (fields().astype("u8"), "blosc shuffle"),
    "an image, whatever it holds": (fields().astype("u2"), "gangsaw.ccsds123"),
    "flags": (surface() > 300, "blosc bitshuffle"),
    "flags at random": (noise(1 << 17, 9).reshape(256, 512) == 0, "blosc bitshuffle"),
    "reflectance": (reflectance("f4"), "gangsaw.scaled"),
    "reflectance in double": (reflectance("f8"), "gangsaw.scaled"),
    "reflectance with a gap": (reflectance("f4", np.nan), "gangsaw.scaled"),
    "reflectance of another form": (reflectance("f4").astype("f8"), "zstd"),
    "decimals": ((np.round(noise(40000, 9000) / 10, 1)).reshape(4, 100, 100), "gangsaw.scaled"),
    "no decimals": (np.random.default_rng(5).random((6, 60, 70)), "blosc shuffle"),
}


@pytest.mark.parametrize("what", SAMPLED)
def test_a_sample_decides(what: str) -> None:
    samples, expected = SAMPLED[what]
    array = MemoryArray(samples, ("z", "y", "x")[-samples.ndim :])
    choice = choose_by_content(facts_of(array))
    found = choice.name
    if choice.plain is not None:
        own = cast("dict[str, Any]", choice.plain.to_dict())
        found = f"{own['name']} {own['configuration'].get('shuffle', '')}".strip()
    assert found == expected
