"""Long lines are shown once, and what is there often is found in the text."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from helpers import naive_search as naive
from helpers.command_line import CommandLine
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw import compress, search
from gangsaw.tasks.genomics.sequences.cached_chunks import CachedChunks
from gangsaw.tasks.search.fm_index.byte_index import count_byte_values
from gangsaw.tasks.search.fm_index.row_index import RowIndex
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.results import lines, scan
from gangsaw.tasks.search.results.lines import TextLines

RNG = np.random.default_rng(17)


class Held(CachedChunks):
    """A text that is held whole."""

    def __init__(self, text: bytes) -> None:
        self.text, self.size = np.frombuffer(text, np.uint8), len(text)

    def read(self, begin: int, end: int) -> npt.NDArray[np.uint8]:
        return self.text[begin:end]


def lines_by_the_definition(text: bytes, pattern: bytes, n: int) -> dict[int, tuple[bytes, bool]]:
    """By their first letters the lines that a grep shows, and whether each is a hit."""
    whole, begins, at = text.split(b"\n"), [], 0
    for line in whole:
        begins.append(at)
        at += len(line) + 1
    hits: set[int] = set()
    for place in naive.places(text, pattern):
        first = text[:place].count(b"\n")
        hits |= set(range(first, first + pattern[:-1].count(b"\n") + 1))
    near = {i for hit in hits for i in range(hit - n, hit + n + 1) if 0 <= i < len(whole)}
    shown = {i for i in near if begins[i] < len(text) or i in hits}
    return {begins[i]: (whole[i], i in hits) for i in shown}


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from(b"aab\n"), max_size=50).map(bytes),
    st.sampled_from([b"a", b"ab", b"\n", b"a\nb", b"\n\na"]),
    st.integers(0, 2),
)
def test_each_line_is_there_once(text: bytes, pattern: bytes, n: int) -> None:
    places = np.array(naive.places(text, pattern), np.int64)[::-1]  # in any order
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "STEP", 2)
        patch.setattr(lines, "MOST_STEP", 3)
        groups = list(TextLines(Held(text)).around(places, places + len(pattern), n))
    found = [line for group in groups for line in group]
    wanted = lines_by_the_definition(text, pattern, n)
    assert [line.place for line in found] == sorted(wanted)
    assert {line.place: (line.text, line.is_hit) for line in found} == wanted
    for group, after in pairwise(groups):
        assert group[-1].end + 1 < after[0].place


def indexed(folder: Path, text: bytes, name: str = "t.log") -> str:
    (folder / name).write_bytes(text)
    store = str(folder / "t.zarr")
    compress(folder / name, store)
    search.index(store)
    return store


def test_a_long_line_is_shown_once(
    tmp_path: Path, gangsaw: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = [b"x" * n for n in (70_000, 80_000, 90_000)]
    long = b"needle".join([filler[0], filler[1], filler[2], b""])
    store = indexed(tmp_path, b"first\n" + long + b"\nneedle\nlast\n")
    wanted = [b"6:" + long, b"%d:needle" % (7 + len(long))]
    assert gangsaw.ok("search", store, "needle").out.encode().splitlines() == wanted
    monkeypatch.setattr(lines, "SHOWN", 1000)
    monkeypatch.setattr(lines, "REACH", 5)
    behind = len(long) - 70_000 - 6 - 5
    cut = b"6:[... 69995 bytes ...]xxxxxneedlexxxxx[... %d bytes ...]" % behind
    assert gangsaw.ok("search", store, "needle").out.encode().splitlines() == [cut, wanted[1]]
    shown = gangsaw.ok("search", store, "first", "-C", 1).out.encode().splitlines()
    assert shown == [b"0:first", b"6-xxxxx[... %d bytes ...]" % (len(long) - 5)]


@given(st.lists(st.sampled_from(b"ab"), max_size=40).map(bytes), st.binary(min_size=1, max_size=3))
def test_places_in_a_text(text: bytes, pattern: bytes) -> None:
    own = np.frombuffer(text, np.uint8)
    for one in (pattern, b"a", b"ab", b"bab", b"aaaa"):
        found = scan.find_pattern(own, np.frombuffer(one, np.uint8), count_byte_values(own))
        assert found.tolist() == naive.places(text, one)


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Take each hit for one of many; return of how many rows places are walked to."""
    seen: list[int] = []
    walk = RowIndex.locate_in_ranges

    def noted(self: RowIndex, rows: Positions) -> tuple[Positions, Positions]:
        seen.append(int((rows[:, 1] - rows[:, 0]).clip(0).sum()))
        return walk(self, rows)

    monkeypatch.setattr(RowIndex, "locate_in_ranges", noted)
    monkeypatch.setattr(scan, "LEAST", 10)
    return seen


def test_bytes_that_are_there_often_are_found_in_the_text(
    tmp_path: Path, walked: list[int]
) -> None:
    text = RNG.choice(np.frombuffer(b"abcdefgh\n", np.uint8), 3000).tobytes() + b"rare"
    own = search.open(indexed(tmp_path, text))
    patterns = [b"a", b"rare", b"ab", b"\n", b"no", b"abc", text[100:180]]
    found = own.locate(patterns)
    for i, pattern in enumerate(patterns):
        assert found.place[found.pattern == i].tolist() == naive.places(text, pattern)
    counts = [len(naive.places(text, pattern)) for pattern in patterns]
    assert walked == [sum(n for n in counts if n * scan.DENSE <= len(text))]
    assert 2 <= walked[0] < 20 < max(counts)
    assert own.locate([b"a", b"rare"], 3).place.tolist() == [
        *naive.places(text, b"a")[:3],
        3000,
    ]
    assert own.count_lines(["a"]) == sum(b"a" in line for line in text.split(b"\n"))


def test_bases_that_are_there_often_are_found_in_the_text(
    tmp_path: Path, walked: list[int]
) -> None:
    sizes = (700, 0, 1, 900)
    records = [bytes(RNG.choice(np.frombuffer(b"ACGTacgtN", np.uint8), n)) for n in sizes]
    text = b"".join(b">r%d\n%s\n" % (i, record) for i, record in enumerate(records))
    own = search.open(indexed(tmp_path, text.replace(b"\n\n", b"\n"), "t.fa"))
    for pattern in (b"A", b"CG", b"gat", b"GN"):
        found = own.locate(pattern)
        pairs = zip(found.place.tolist(), found.strand.tolist(), strict=True)
        assert sorted(pairs) == naive.stranded(records, pattern)
    assert sum(walked) == 0
