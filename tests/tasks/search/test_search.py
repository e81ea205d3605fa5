"""Stores are indexed and searched: across chunks, on both strands, and not by another's index."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers import naive_search as naive
from helpers.command_line import CommandLine

from gangsaw import compress, search, verify
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.codecs.core.nucleotides.alphabet import reverse_complement_text
from gangsaw.tasks.engine.report.progress import Progress

RNG = np.random.default_rng(3)
TEXT = RNG.integers(97, 100, 700).astype(np.uint8)
LINES = b"".join(b"line %d: %s\n" % (i, b"error" if i % 7 == 3 else b"fine") for i in range(60))
SIZES = (37, 0, 1, 211, 90, 3, 150)
RECORDS = [bytes(RNG.choice(np.frombuffer(b"ACGTacgtN", np.uint8), n)) for n in SIZES]


def write_text(path: Path, text: bytes, chunk: int) -> None:
    raw = path.with_suffix(".raw")
    raw.write_bytes(text)
    compress(raw, path, shape=(len(text),), dtype="u1", codec="zstd", chunks=(chunk,))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indexed stores of a text, of lines and of a genome."""
    folder = tmp_path_factory.mktemp("indexed")
    write_text(folder / "text.zarr", TEXT.tobytes(), 64)
    write_text(folder / "lines.zarr", LINES, 100)
    records = (b">r%d told\n%s\n" % (i, record) for i, record in enumerate(RECORDS))
    (folder / "genome.fa").write_bytes(b"".join(records).replace(b"\n\n", b"\n"))
    compress(folder / "genome.fa", folder / "genome.zarr", format="genome", chunks=(50,))
    for name in ("text", "lines", "genome"):
        search.index(folder / f"{name}.zarr")
    return folder


@pytest.fixture
def run(gangsaw: CommandLine) -> CommandLine:
    """The command line."""
    return gangsaw


def test_a_file_of_text(tmp_path: Path) -> None:
    (tmp_path / "lines.log").write_bytes(LINES)
    compress(tmp_path / "lines.log", tmp_path / "log.zarr")
    search.index(tmp_path / "log.zarr")
    own = search.open(tmp_path / "log.zarr")
    assert own.locate("error").place.tolist() == naive.places(LINES, b"error")


@pytest.mark.parametrize("begin", [0, 60, 63, 64, 127, 650])
@pytest.mark.parametrize("n", [1, 2, 5, 40, 200])
def test_texts_across_chunks(stores: Path, begin: int, n: int) -> None:
    text, own = TEXT.tobytes(), search.open(stores / "text.zarr")
    pattern = text[begin : begin + n]
    assert own.locate(pattern).place.tolist() == naive.places(text, pattern)
    assert own.count(pattern) == len(naive.places(text, pattern))
    assert own.extract(begin, begin + len(pattern)) == pattern


def test_the_first_hits_of_each(stores: Path) -> None:
    found = search.open(stores / "text.zarr").locate(["a", "bb", "zz"], most=3)
    for i, pattern in enumerate((b"a", b"bb", b"zz")):
        first = naive.places(TEXT.tobytes(), pattern)[:3]
        assert found.place[found.pattern == i].tolist() == first


@pytest.mark.parametrize(
    "pattern", [b"A", b"ac", b"ACGT", b"GAT", b"TTN", b"CTGCA", RECORDS[3][40:70]]
)
def test_bases_of_both_strands(stores: Path, pattern: bytes) -> None:
    found = search.open(stores / "genome.zarr").locate(pattern)
    pairs = zip(found.place.tolist(), found.strand.tolist(), strict=True)
    assert sorted(pairs) == naive.stranded(RECORDS, pattern)


def test_matches_across_chunks(stores: Path) -> None:
    text = TEXT.tobytes()
    query = text[80:150] + b"zz" + text[120:133] + b"a" + text[:20]
    found = search.open(stores / "text.zarr").mems(query, 7)
    own = zip(found.begin.tolist(), found.place.tolist(), found.length.tolist(), strict=True)
    assert set(own) == naive.matches(text, query, 7)
    assert len(found) == len(naive.matches(text, query, 7))


def test_matches_of_both_strands(stores: Path) -> None:
    query = RECORDS[3][20:110] + b"N" + reverse_complement_text(RECORDS[6][30:75]) + RECORDS[0][-9:]
    found = search.open(stores / "genome.zarr").mems(query + RECORDS[3][:9], 6)
    columns = (found.begin, found.place, found.length, found.strand)
    own = set(zip(*(column.tolist() for column in columns), strict=True))
    assert own == naive.stranded_matches(RECORDS, query + RECORDS[3][:9], 6)


def test_a_store_stays_as_it_was(stores: Path) -> None:
    for name in ("text", "genome"):
        assert verify(stores / f"{name}.zarr").ok
        assert verify(stores / f"{name}.index.zarr").ok


def test_a_replaced_store_is_refused(stores: Path, tmp_path: Path) -> None:
    for name in ("text.zarr", "text.index.zarr"):
        shutil.copytree(stores / name, tmp_path / name)
    assert search.open(tmp_path / "text.zarr").count("ab") > 0  # the same content elsewhere
    shutil.rmtree(tmp_path / "text.zarr")
    write_text(tmp_path / "text.zarr", TEXT[::-1].tobytes(), 64)
    with pytest.raises(BadParams, match="other content"):
        search.open(tmp_path / "text.zarr")


def test_a_store_without_an_index(tmp_path: Path) -> None:
    write_text(tmp_path / "text.zarr", b"text", 4)
    with pytest.raises(BadParams, match="gangsaw index"):
        search.open(tmp_path / "text.zarr")
    with pytest.raises(BadParams, match="no Zarr"):
        search.open(tmp_path / "none.zarr")


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cube.raw").write_bytes(bytes(16))
    compress(tmp_path / "cube.raw", tmp_path / "cube.zarr", shape=(4, 4), dtype="u1")
    with pytest.raises(BadParams, match="no text"):
        search.index(str(tmp_path / "cube.zarr"))
    with pytest.raises(BadParams, match="data is no array"):
        search.index(str(tmp_path / "cube.zarr"), variables=("data",))


def test_a_damaged_index(stores: Path, tmp_path: Path) -> None:
    for name in ("text.zarr", "text.index.zarr"):
        shutil.copytree(stores / name, tmp_path / name)
    index = zarr.open_group(tmp_path / "text.index.zarr", mode="r+")["data"]
    assert isinstance(index, zarr.Array)
    row = np.asarray(index[2])
    row[300] ^= 1
    index[2] = row
    with pytest.raises(JobFailed, match=r"data, chunk c/2/0: .*the manifest says"):
        search.open(tmp_path / "text.zarr").count("a")


def stopping(n: int) -> Callable[[Progress], None]:
    def stop(progress: Progress) -> None:
        if progress.done == n:
            raise KeyboardInterrupt

    return stop


def test_a_stopped_job_is_resumed(tmp_path: Path) -> None:
    write_text(tmp_path / "text.zarr", TEXT.tobytes(), 64)
    store = str(tmp_path / "text.zarr")
    with pytest.raises(KeyboardInterrupt):
        search.index(store, on_progress=stopping(4))
    with pytest.raises(BadParams, match="not finished"):
        search.open(store)
    done = search.index(store, resume=True)
    assert done.chunks == 11
    assert done.resumed >= 4
    assert search.open(store).count("a") == TEXT.tobytes().count(b"a")


def test_too_many_breaks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "g.fa").write_text(">r\n" + "AN" * 4000 + "\n")
    compress(tmp_path / "g.fa", tmp_path / "g.zarr", format="genome")
    with pytest.raises(JobFailed, match="breaks"):
        search.index(str(tmp_path / "g.zarr"))


def test_lines_as_grep_shows_them(stores: Path, run: CommandLine) -> None:
    store, lines = stores / "lines.zarr", LINES.split(b"\n")
    starts = np.cumsum([0, *(len(line) + 1 for line in lines)])
    ran = run.ok("search", store, "error")
    wanted = [f"{starts[i]}:{line.decode()}" for i, line in enumerate(lines) if b"error" in line]
    assert ran.out.splitlines() == wanted
    ran = run.ok("search", store, "line 3:", "-C", 1)
    assert [line.partition("line")[2] for line in ran.out.splitlines()] == [
        " 2: fine", " 3: error", " 4: fine"
    ]  # fmt: skip
    assert run.ok("search", store, "error", "fine", "--count-matches").out == "9\terror\n51\tfine\n"
    assert len(run.ok("search", store, "line", "-m", 2).out.splitlines()) == 2


def test_patterns_as_users_write_them(stores: Path, tmp_path: Path, run: CommandLine) -> None:
    store = stores / "lines.zarr"
    assert run.ok("search", store, "--hex", "6572726f72", "-c").out == "9\n"
    assert run.ok("search", store, "--escapes", r"fine\x0aline", "--count-matches").out == "51\n"
    (tmp_path / "patterns").write_text("error\r\n\nfine\n")
    ran = run.ok("search", store, "-f", tmp_path / "patterns", "--count-matches", "--json")
    assert ran.figures == [{"pattern": "error", "count": 9}, {"pattern": "fine", "count": 51}]  # type: ignore[comparison-overlap]


def test_exit_codes_are_those_of_grep(stores: Path, run: CommandLine) -> None:
    assert run("search", stores / "lines.zarr", "none of it").code == 1
    run("search", stores / "lines.zarr").failed(2)
    run("search", stores / "lines.zarr", "--hex", "x").failed(2)
    run("search", stores / "lines.zarr", "--escapes", r"\q").failed(2)
    run("search", stores / "none.zarr", "a").failed(2)


def test_places_in_records(stores: Path, run: CommandLine) -> None:
    own = RECORDS[3][60:72].upper().replace(b"N", b"")
    pattern = max(own.split(b"N"), key=len)
    ran = run.ok("search", stores / "genome.zarr", pattern.decode(), "--json")
    starts = np.cumsum([0, *SIZES])
    wanted = [
        {
            "record": f"r{np.searchsorted(starts, place, 'right') - 1}",
            "place": int(place - starts[np.searchsorted(starts, place, "right") - 1]) + 1,
            "strand": "+" if strand > 0 else "-",
        }
        for place, strand in naive.stranded(RECORDS, pattern)
    ]
    assert ran.figures[0]["hits"] == wanted  # type: ignore[index]
    line = run("search", stores / "genome.zarr", RECORDS[3][5:8].decode(), "-C", 2).out
    assert not line or line.count("\t") == 3 * line.count("\n")


def test_an_index_is_made_by_the_command(tmp_path: Path, run: CommandLine) -> None:
    write_text(tmp_path / "text.zarr", LINES, 200)
    store = tmp_path / "text.zarr"
    ran = run.ok("index", store, "--workers", 0, "--json")
    assert ran.figures["chunks"] == -(-len(LINES) // 200)
    assert "exists" in run("index", store, "--workers", 0).failed(2)
    run.ok("index", store, "--workers", 0, "--overwrite", "-q")
    other = tmp_path / "other.zarr"
    run.ok("index", store, "--index", other, "--rate", 3, "--workers", 0, "-q")
    assert run.ok("search", store, "error", "--index", other, "-c").out == "9\n"


def test_a_wrong_rate_or_attribute(stores: Path, tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="rate"):
        search.index(str(stores / "text.zarr"), str(tmp_path / "i.zarr"), rate=0)
    shutil.copytree(stores / "text.zarr", tmp_path / "text.zarr")
    shutil.copytree(stores / "text.index.zarr", tmp_path / "text.index.zarr")
    group = zarr.open_group(tmp_path / "text.index.zarr", mode="r+", use_consolidated=False)
    group.attrs["gangsaw_index"] = {"version": 1, "arrays": {"data": {"kind": "bytes"}}}
    with pytest.raises((BadParams, CorruptChunk)):
        search.open(tmp_path / "text.zarr")
