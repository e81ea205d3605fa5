"""Lines are counted as grep counts them, few hits found early, changes of the store noticed."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers import naive_search as naive
from helpers.command_line import CommandLine
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw import compress, info, search
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.jobs.figures.contents import contents_of
from gangsaw.tasks.search.fm_index.samples import Positions
from gangsaw.tasks.search.results import find
from gangsaw.tasks.search.results.line_counts import HitLines, _in_lines, lines_of
from gangsaw.tasks.search.results.records import StoredReads

RNG = np.random.default_rng(11)


def write(path: Path, text: bytes, chunk: int) -> str:
    raw = path.with_suffix(".raw")
    raw.write_bytes(text)
    compress(
        raw, path, shape=(len(text),), dtype="u1", codec="zstd", chunks=(chunk,), overwrite=True
    )
    return str(path)


@settings(max_examples=80)
@given(st.lists(st.sampled_from(b"ab\n"), max_size=60).map(bytes), st.integers(1, 20))
def test_lines_of_chunks(text: bytes, chunk: int) -> None:
    found = []
    for begin in range(0, len(text), chunk):
        own = np.frombuffer(text[begin : begin + chunk], np.uint8)
        places, ends = np.flatnonzero(own == ord("a")), np.flatnonzero(own == 10)
        none = HitLines(0, in_first=False, in_last=False, has_end=bool(ends.size))
        found.append(_in_lines(places, ends) if places.size else none)
    assert lines_of(found) == sum(b"a" in line for line in text.split(b"\n"))


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, bytes]:
    """An indexed store whose lines cross chunks, and its text."""
    text = RNG.choice(np.frombuffer(b"abc\n", np.uint8), 900, p=[0.4, 0.4, 0.17, 0.03]).tobytes()
    store = write(tmp_path_factory.mktemp("lines") / "lines.zarr", text, 23)
    search.index(store)
    return store, text


@pytest.mark.parametrize("words", [["ab"], ["abcab", "cc"], ["a", "b"], ["nothing"]])
def test_lines_are_counted_as_grep_counts(
    lines: tuple[str, bytes], words: list[str], gangsaw: CommandLine
) -> None:
    store, text = lines
    wanted = sum(any(w.encode() in line for w in words) for line in text.split(b"\n"))
    assert search.open(store).count_lines(words) == wanted
    ran = gangsaw("search", store, *words, "-c")
    assert (ran.out, ran.code) == (f"{wanted}\n", 0 if wanted else 1)
    assert gangsaw("search", store, *words, "-c", "--json").figures == {"lines": wanted}
    gangsaw("search", store, *words, "-c", "--count-matches").failed(2)


@pytest.mark.parametrize("most", [1, 2, 40, 1000])
@pytest.mark.parametrize("many", [0, 1 << 17])
def test_first_hits_are_those_of_the_lowest_places(
    lines: tuple[str, bytes], most: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, text = lines
    monkeypatch.setattr(find, "MANY", many)
    monkeypatch.setattr(find, "FAR_MORE", 1)
    patterns = [b"a", b"cc", b"abcabc", b"zz", b"\n"]
    found = search.open(store).locate(patterns, most)
    for i, pattern in enumerate(patterns):
        assert found.place[found.pattern == i].tolist() == naive.places(text, pattern)[:most]


def test_chunks_behind_the_first_hits_are_left_alone(
    lines: tuple[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    call = find.LocateInChunk.__call__

    def noted(self: find.LocateInChunk, number: int) -> search.Occurrences:
        seen.append(number)
        return call(self, number)

    monkeypatch.setattr(find.LocateInChunk, "__call__", noted)
    search.open(lines[0]).locate(["a", "b"], 3)
    assert max(seen) < 3


def test_a_text_of_no_bytes(tmp_path: Path, gangsaw: CommandLine) -> None:
    (tmp_path / "none.log").touch()
    compress(tmp_path / "none.log", tmp_path / "none.zarr")
    search.index(tmp_path / "none.zarr")
    own = search.open(tmp_path / "none.zarr")
    assert (len(own), own.count("a"), len(own.locate("a")), own.extract(0, 0)) == (0, 0, 0, b"")
    assert own.count_lines("a") == len(own.mems("abc", 2)) == 0
    assert gangsaw("search", tmp_path / "none.zarr", "a").code == 1
    gangsaw.ok("info", tmp_path / "none.index.zarr")


def test_empty_patterns_are_refused_first(tmp_path: Path, gangsaw: CommandLine) -> None:
    assert "1 to" in gangsaw("search", tmp_path / "none.zarr", "").failed(2)


def test_reads_are_named_by_number(tmp_path: Path, gangsaw: CommandLine) -> None:
    reads = [RNG.choice(np.frombuffer(b"ACGT", np.uint8), n).tobytes() for n in (40, 9, 30, 70)]
    text = b"".join(b"@r\n%s\n+\n%s\n" % (read, b"I" * len(read)) for read in reads)
    (tmp_path / "r.fq").write_bytes(text)
    compress(tmp_path / "r.fq", tmp_path / "r.zarr")
    search.index(tmp_path / "r.zarr")
    pattern = reads[2][5:17]
    ran = gangsaw.ok("search", tmp_path / "r.zarr", pattern.decode(), "-C", 2)
    assert ran.out == f"2:6\t+\t{pattern.decode()}\t{reads[2][3:19].decode()}\n"
    hit = {"read": 2, "place": 6, "strand": "+"}
    found = gangsaw.ok("search", tmp_path / "r.zarr", pattern.decode(), "--json").figures
    assert found == [{"pattern": pattern.decode(), "hits": [hit]}]  # type: ignore[comparison-overlap]
    assert gangsaw.ok("search", tmp_path / "r.zarr", "A", "-c").out == "4\n"


@given(st.lists(st.integers(1, 9), min_size=1, max_size=20), st.data())
def test_numbers_of_reads(lengths: list[int], data: st.DataObject) -> None:
    starts = np.cumsum([0, *lengths])
    own = StoredReads(_Starts(starts))  # type: ignore[arg-type]
    some = data.draw(st.lists(st.integers(0, int(starts[-1]) - 1), max_size=9))
    found = own.find(np.array(some, np.int64))
    wanted = [
        (i, begin, end - 1)
        for place in some
        for i, (begin, end) in enumerate(pairwise(starts.tolist()))
        if begin <= place < end
    ]
    assert [tuple(row) for row in zip(*(own.tolist() for own in found), strict=True)] == wanted


class _Starts:
    def __init__(self, starts: Positions) -> None:
        self.starts, self.size = starts, starts.size

    def read(self, begin: int, end: int) -> Positions:
        return self.starts[begin:end]


def test_a_store_that_changes_while_it_is_searched(tmp_path: Path) -> None:
    store = write(tmp_path / "t.zarr", b"one two\nthree\n" * 20, 30)
    search.index(store)
    own = search.open(store)
    held = own.cached_text()
    assert own.extract(0, 3) == b"one"
    write(tmp_path / "t.zarr", b"two one\nthree\n" * 20, 30)
    for reading in (
        lambda: own.extract(0, 3),
        lambda: own.count("one"),
        lambda: own.locate("one", 1),
        lambda: held.read(0, 3),
    ):
        with pytest.raises(JobFailed, match="changed"):
            reading()
    with pytest.raises(BadParams, match="other content"):
        search.open(store)


def test_info_of_indexes(tmp_path: Path, gangsaw: CommandLine) -> None:
    store = write(tmp_path / "t.zarr", b"one two\n" * 20, 30)
    assert not contents_of(info(store))
    search.index(store)
    (found,) = contents_of(info(store))
    assert found.figures["is_current"] is True
    ran = gangsaw.ok("info", tmp_path / "t.index.zarr")
    assert re.search(r"of data +160 bytes", ran.out)
    write(tmp_path / "t.zarr", b"two two\n" * 20, 30)
    assert contents_of(info(store))[0].figures["is_current"] is False


def test_bytes_of_damaged_chunks_are_not_told(tmp_path: Path, gangsaw: CommandLine) -> None:
    store = write(tmp_path / "t.zarr", b"one two\n" * 20, 160)
    chunk = next(path for path in (tmp_path / "t.zarr").rglob("c/*") if path.is_file())
    chunk.write_bytes(b"\0" * chunk.stat().st_size)
    ran = gangsaw("verify", store)
    assert "1 problem" in ran.out
    assert "0 B" not in ran.out
