"""Indexes of one text: equal to a search by the definition, and closed to wrong bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from helpers.naive_search import places
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.bwt.transform.suffixes import suffix_array
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import CorruptChunk, NewerFormat
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.search.fm_index import base_index
from gangsaw.tasks.search.fm_index.base_index import BaseIndex
from gangsaw.tasks.search.fm_index.base_runs import NO_BORDERS, codes_for, split_at_breaks
from gangsaw.tasks.search.fm_index.byte_index import ByteIndex
from gangsaw.tasks.search.fm_index.kinds import Kind, TextIndex, bound_index_bytes, open_index
from gangsaw.tasks.search.fm_index.kinds import build_text_index as index_made
from gangsaw.tasks.search.fm_index.packed import CRC_AT, FIELDS, SUMMED, VERSION_AT
from gangsaw.tasks.search.fm_index.repeat_index import RepeatIndex

RNG = np.random.default_rng(34)
SMALL = settings(max_examples=60)


def ragged(patterns: Sequence[bytes]) -> RaggedArray:
    return RaggedArray.from_rows([np.frombuffer(pattern, np.uint8) for pattern in patterns])


def octets(text: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.frombuffer(text, np.uint8)


def found(index: TextIndex, patterns: Sequence[bytes]) -> list[list[int]]:
    which, own = index.locate(ragged(patterns))
    counts = index.counts(ragged(patterns))
    assert np.bincount(which, minlength=len(patterns)).tolist() == counts.tolist()
    return [sorted(own[which == i].tolist()) for i in range(len(patterns))]


def of_runs(text: bytes, borders: Sequence[int] | None = None) -> RepeatIndex:
    """An index by runs, of bases where there are borders, whatever is shorter."""
    if borders is None:
        return RepeatIndex.build(octets(text), suffix_array(octets(text)), None, len(text))
    own, runs = split_at_breaks(octets(text), np.array(borders, np.int64))
    return RepeatIndex.build(own, suffix_array(own), runs, len(text))


texts = st.integers(1, 4).flatmap(
    lambda k: st.lists(st.integers(97, 96 + k), max_size=200).map(bytes)
) | st.binary(max_size=100)
rates = st.integers(1, 70)


@SMALL
@given(texts, rates, st.lists(st.binary(min_size=1, max_size=3), max_size=3), st.data())
def test_bytes_are_found(text: bytes, rate: int, others: list[bytes], data: st.DataObject) -> None:
    indexes = [open_index(ByteIndex.build(octets(text), rate).pack())]
    indexes += [open_index(of_runs(text).pack())] if text else []
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(begin + 9, len(text))))
    patterns = [*others, *filter(None, [text[begin:end]]), b"a", b"ab"]
    for index in indexes:
        assert found(index, patterns) == [places(text, pattern) for pattern in patterns]


def without(text: bytes, pattern: bytes, borders: list[int]) -> list[int]:
    if not set(pattern) <= set(b"ACGT"):
        return []
    own = places(text.upper(), pattern)
    return [i for i in own if not any(i < border < i + len(pattern) for border in borders)]


@SMALL
@given(
    st.text("ACGTacgtN-", max_size=200) | st.text("AC", max_size=400) | st.text("A", max_size=400),
    rates,
    st.lists(st.text("ACGTN", min_size=1, max_size=4), min_size=1, max_size=5),
    st.sets(st.integers(0, 200), max_size=5),
)
def test_bases_are_found(text: str, rate: int, words: list[str], cuts: set[int]) -> None:
    letters, patterns = text.encode(), [word.encode() for word in words]
    borders = sorted(cut for cut in cuts if cut <= len(text))
    made = BaseIndex.build(octets(letters), np.array(borders, np.int64), rate)
    indexes = [open_index(made.pack())]
    indexes += [open_index(of_runs(letters, borders).pack())] if made.runs.positions.size else []
    codes = [codes_for(pattern).tobytes() for pattern in patterns]
    for index in indexes:
        assert found(index, codes) == [without(letters, pattern, borders) for pattern in patterns]


def test_many_patterns_are_looked_up_in_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base_index, "MANY", 1)
    monkeypatch.setattr(base_index, "TABLE_K", 3)
    text = RNG.choice(octets(b"ACGT"), 300).tobytes()
    patterns = [text[i : i + n] for i in range(0, 290, 9) for n in (2, 3, 9)]
    index = BaseIndex.build(octets(text))
    codes = [codes_for(pattern).tobytes() for pattern in patterns]
    assert found(index, codes) == [places(text, pattern) for pattern in patterns]


@pytest.mark.parametrize(
    "text",
    [b"", b"\0", b"\xff" * 3000, b"ab" * 1500, bytes(range(256)) * 8, RNG.bytes(5000)],
    ids=["empty", "zero", "equal", "period", "cycle", "random"],
)
def test_corner_cases_of_bytes(text: bytes) -> None:
    index = open_index(ByteIndex.build(octets(text)).pack())
    patterns = [b"\xff\xff", b"ab", b"\0\1", b"zz", *filter(None, [text[-7:], text[:40]])]
    assert found(index, patterns) == [places(text, pattern) for pattern in patterns]


@pytest.mark.parametrize("n", [0, 191, 192, 383, 479, 480, 959, 960, 961])
def test_full_lines(n: int) -> None:
    text = RNG.choice(octets(b"ACGT"), n).tobytes()
    for index, as_codes in ((BaseIndex, True), (ByteIndex, False)):
        own = open_index(index.build(octets(text)).pack())  # type: ignore[attr-defined]
        pattern = codes_for(b"T").tobytes() if as_codes else b"T"
        assert found(own, [pattern]) == [places(text, b"T")]


def made() -> dict[str, Callable[[], TextIndex]]:
    bases = RNG.choice(octets(b"ACGTN"), 3000, p=[0.3, 0.2, 0.2, 0.29, 0.01])
    text = RNG.choice(octets(b"abcdefgh"), 3000)
    strains = np.tile(bases[:300], 10)
    strains[RNG.integers(0, 3000, 20)] = ord("A")
    return {
        "bases": lambda: BaseIndex.build(bases),
        "bytes": lambda: ByteIndex.build(text),
        "runs": lambda: of_runs(strains.tobytes()),
        "runs of bases": lambda: of_runs(strains.tobytes(), [300, 900]),
    }


MADE = made()


@pytest.mark.parametrize("kind", MADE)
def test_damage_is_found(kind: str) -> None:
    packed = MADE[kind]().pack()
    for size in RNG.integers(0, packed.size, 30):
        with pytest.raises(CorruptChunk):
            open_index(packed[:size])
    for at in RNG.integers(0, packed.size, 60):
        damaged = packed.copy()
        damaged[at] ^= 1 << RNG.integers(8)
        with pytest.raises((CorruptChunk, NewerFormat)):
            open_index(damaged)


def repaired(packed: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> None:
    packed[: 8 * FIELDS].view("<u8")[CRC_AT] = crc32c(packed[SUMMED:])


@pytest.mark.parametrize("kind", MADE)
def test_hostile_bytes_with_right_checksums_lead_nowhere(kind: str) -> None:
    """Kernels read nothing outside and end: places are in the text, or CorruptChunk is raised."""
    good = MADE[kind]().pack()
    letters = {"bytes": b"abcdefgh", "runs": b"ACGT"}.get(kind, bytes(range(4)))
    patterns = ragged([bytes(RNG.choice(octets(letters), 3)) for _ in range(9)])
    refused = 0
    for _ in range(300):
        packed = good.copy()
        first = int(RNG.choice([8 * CRC_AT, 8 * FIELDS, packed.size // 2]))
        for at in RNG.integers(first, packed.size, int(RNG.choice([1, 2, 40]))):
            packed[at] = RNG.choice([0, 1, 255, RNG.integers(256)])
        repaired(packed)
        try:
            index = open_index(packed)
            index.counts(patterns)
            which, own = index.locate(patterns)
            assert which.size == own.size
            index.seeds(patterns.data, 4)
            if not isinstance(index, RepeatIndex):
                index.locate_rows(np.arange(0, 2500, 7))
        except CorruptChunk:
            refused += 1
    assert refused > 200


def test_another_version_is_newer() -> None:
    packed = ByteIndex.build(octets(b"text")).pack()
    packed[: 8 * FIELDS].view("<u8")[VERSION_AT] = 2
    with pytest.raises(NewerFormat):
        open_index(packed)


def test_what_repeats_itself_is_indexed_by_runs() -> None:
    strain = RNG.choice(octets(b"ACGT"), 500)
    sizes = []
    for n in (100, 200, 400):
        text = np.tile(strain, n)
        text[RNG.integers(0, text.size, n // 5)] = ord("T")
        index = index_made("bases", text, np.arange(0, text.size, 500), 32)
        assert isinstance(index, RepeatIndex)
        sizes.append(index.pack().size)
        pattern = strain[240:260].tobytes()
        assert len(found(index, [codes_for(pattern).tobytes()])[0]) > n // 2
    assert sizes[-1] < min(
        3 * sizes[0], text.size // 25
    )  # changes, of which runs come, are 4 times
    assert isinstance(index_made("bases", strain, NO_BORDERS, 32), BaseIndex)


@pytest.mark.parametrize("rate", [1, 32])
def test_an_index_fits_its_room(rate: int) -> None:
    text = np.frombuffer(RNG.bytes(20_000), np.uint8)
    assert ByteIndex.build(text, rate).pack().size <= bound_index_bytes("bytes", text.size, rate)
    runs = octets((b"ACGTACGTACGTACGTA" + b"N") * 1000)
    assert BaseIndex.build(runs, rate=rate).pack().size <= bound_index_bytes(
        "bases", runs.size, rate
    )


@pytest.mark.parametrize("changes", [4000, 30])
@pytest.mark.parametrize("kind", ["bases", "bytes"])
def test_the_shorter_index_is_chosen(kind: Kind, changes: int) -> None:
    text = np.tile(RNG.choice(octets(b"ACGT"), 900), 30)
    text[RNG.integers(0, text.size, changes)] = ord("G")
    own = index_made(kind, text, NO_BORDERS, 32)
    by_runs = of_runs(text.tobytes(), [] if kind == "bases" else None)
    plain = BaseIndex.build(text) if kind == "bases" else ByteIndex.build(text, 32)
    is_few = 8 * by_runs.stored.n_runs < text.size
    assert isinstance(own, RepeatIndex) == is_few == (changes == 30)
    if is_few:
        assert own.pack().size < plain.pack().size
