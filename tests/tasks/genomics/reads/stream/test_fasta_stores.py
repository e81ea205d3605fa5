"""FASTA into stores and back: the same text however its lines are, or one clear error."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from shutil import rmtree

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gangsaw
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.compressed_text import text
from gangsaw.tasks.formats.contract.opening import find_format
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.stream.stream import ReadStream

FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
NAMES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)
LETTERS = st.text("ACGTNacgtnRYK*-.", max_size=40)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """FASTA of lines of one width, some of another; ends of any kind, the last perhaps missing."""
    width = draw(st.sampled_from([5, 7, 1000]))
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 8))):
        letters = draw(LETTERS)
        own = draw(st.sampled_from([width, width, width, 3]))
        lines.append(">" + draw(NAMES))
        lines += [letters[i : i + own] for i in range(0, len(letters), own)]
        lines += draw(st.sampled_from([[], [], [], [""], ["ACG", "", "A"]]))
    usual = draw(st.sampled_from(["\n", "\r\n"]))
    odd = draw(st.sets(st.integers(0, len(lines) - 1), max_size=2))
    ends = [("\n" if usual == "\r\n" else "\r\n") if i in odd else usual for i in range(len(lines))]
    whole = "".join(line + end for line, end in zip(lines, ends, strict=True))
    return (whole.rstrip("\r\n") if draw(st.booleans()) else whole).encode()


def stored(folder: Path, *given_texts: bytes, **own: str) -> Path:
    """Compress files of these texts into a store."""
    paths = [folder / f"in_{i}.fasta" for i in range(len(given_texts))]
    for path, written in zip(paths, given_texts, strict=True):
        path.write_bytes(written)
    stream = ReadStream(
        tuple(map(str, paths)), Settings(qualities="none", **own), format="fasta", is_named=True
    )
    gangsaw.compress(stream, folder / "reads.zarr", overwrite=True)
    return folder / "reads.zarr"


def back(store: Path, n_targets: int = 1) -> list[bytes]:
    targets = [store.parent / f"out_{i}.fasta" for i in range(n_targets)]
    gangsaw.decompress(store, targets, overwrite=True)
    return [target.read_bytes() for target in targets]


@FEW
@given(first=texts(), second=texts())
def test_any_text_comes_back(
    tmp_path_factory: pytest.TempPathFactory, first: bytes, second: bytes
) -> None:
    folder = tmp_path_factory.mktemp("reads")
    pair = [first, second] if first.count(b"\n>") == second.count(b"\n>") else [first]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", 48)  # records over several blocks
        assert back(stored(folder, *pair), len(pair)) == pair


def test_an_empty_file_comes_back(tmp_path: Path) -> None:
    assert back(stored(tmp_path, b"")) == [b""]


def test_lines_of_one_width_cost_one_number(tmp_path: Path) -> None:
    store = stored(tmp_path, b">a\nACG\n" + b">b x\nACGTA\nCC\n>c\nACGTA\nACGTA\n>d\n" * 9)
    assert not {"fold_record", "odd_end", "quality"} & set(zarr.open_group(store).array_keys())
    assert zarr.open_group(store).attrs["gangsaw_reads"]["widths"] == [5]


def test_folds_that_do_not_add_up_are_corrupt(tmp_path: Path) -> None:
    store = stored(tmp_path, b">a\nACGTA\nCC\n>b\nACG\nCC\n")
    folds = zarr.open_group(store)["fold_length"]
    assert isinstance(folds, zarr.Array)
    rmtree(store / "fold_length" / ".gangsaw")  # else its chunk differs from the manifest
    for wrong in (4, 1 << 40, (1 << 64) - 1):
        folds[0] = wrong
        with pytest.raises(CorruptChunk, match="fold_length does not add up"):
            back(store)


def test_line_ends_that_do_not_grow_are_corrupt(tmp_path: Path) -> None:
    store = stored(tmp_path, b">a\r\nACGTA\nCC\n>b\nACG\r\nCC\r\n")
    ends = zarr.open_group(store)["odd_end"]
    assert isinstance(ends, zarr.Array)
    ends[:] = np.flip(np.asarray(ends[:]))
    with pytest.raises(CorruptChunk, match="odd_end does not grow"):
        back(store)


@pytest.mark.parametrize("order", ["bins", "sorted"])
def test_other_orders_keep_records_and_the_usual_lines(tmp_path: Path, order: str) -> None:
    """Line ends and widths are those of most; what was odd is told."""
    rng = np.random.default_rng(3)
    genome = "".join(rng.choice(list("ACGT"), 400))  # reads without a place stay where they are
    whole = [genome[start : start + 70] for start in rng.integers(0, 330, 40).tolist()]
    lines = [(f">{i}", s[:50], s[50:]) for i, s in enumerate(whole)]
    even = ["\r\n".join((*line, "")) for line in lines]
    store = stored(tmp_path, "".join(even).encode(), order=order)
    found = back(store)[0].decode()
    records = [">" + record for record in found.split(">")[1:]]
    assert Counter(records) == Counter(even)
    assert records != even
    odd = even[0].replace("\r\n", "\n") + f">1\r\n{whole[1][:9]}\r\n{whole[1][9:]}\r\n"
    store = stored(tmp_path, "".join([*even[2:], odd]).encode(), order=order)
    found = back(store)[0].decode()
    assert Counter(">" + record for record in found.split(">")[1:]) == Counter(even)
    lost = zarr.open_group(store).attrs["gangsaw_reads"]["lost"]
    assert lost == ["line ends unlike the first", "odd folds of lines"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            b"@r\nACG\n+\nIII\n",
            r"line 1: it does not begin with > \(it is FASTQ: pass --format fast",
        ),
        (">a\nAC\n".encode("utf-16"), r"line 1: .* \(it is text of UTF-16"),
        (b">a\nAC\n; x\nAC\n", "line 3: it begins with ; "),
        (b">a\nAC\n>b\nA\0C\n", "line 4: it holds a byte 0"),
        (b"\n>a\nAC\n", "line 1: it does not begin with >"),
    ],
)
def test_what_is_no_fasta_is_named(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(BadParams, match=rf"in_0.fasta:? {problem}"):
        stored(tmp_path, content)
    assert not list(tmp_path.rglob("zarr.json"))


def test_content_goes_before_the_suffix(tmp_path: Path) -> None:
    found = []
    for name, start in (("a.fq", b">"), ("b.fa", b"@"), ("c.fa", b">"), ("d.fa.gz", b"\x1f\x8b")):
        (tmp_path / name).write_bytes(start)
        found.append(find_format([str(tmp_path / name)]).name)
    assert found == ["fasta", "fastq", "genome", "fasta"]


def test_protein_is_refused_and_few_records_are_reads_where_the_user_says_so(
    tmp_path: Path, gangsaw: CommandLine
) -> None:
    path, store = tmp_path / "a.fa", tmp_path / "a.zarr"
    path.write_bytes(b">p\nMKVLLAQWERTYHIPSDFGHKLCVNMPQ\n")
    assert "holds protein" in gangsaw("compress", path, store).failed(2)
    path.write_bytes(b">p\nACGATTGACCA\n")
    gangsaw.ok("compress", path, store, "--format", "fasta")
    assert gangsaw.ok("extract", store, "0").out == ">p\nACGATTGACCA\n"


def test_a_store_goes_back_to_its_format(tmp_path: Path, gangsaw: CommandLine) -> None:
    """Under a suffix of none; one of another format has to be meant."""
    written = b"@a b\nACGT\n+\nIIII\n"
    (tmp_path / "a.fastq").write_bytes(written)
    store, target = tmp_path / "a.zarr", tmp_path / "copy.fa"
    gangsaw.ok("compress", tmp_path / "a.fastq", store)
    gangsaw.ok("decompress", store, tmp_path / "copy.letters")
    assert (tmp_path / "copy.letters").read_bytes() == written
    text = "decompress", store, tmp_path / "copy.txt"
    assert "holds no text" in gangsaw(*text).failed(2)
    gangsaw.ok(*text, "--format", "fastq")
    assert (tmp_path / "copy.txt").read_bytes() == written
    assert "pass --format fastq or fasta" in gangsaw("decompress", store, target).failed(2)
    wanted = ("decompress", store, target, "--format", "fasta")
    assert "cannot hold qualities; --accept-loss" in gangsaw(*wanted).failed(2)
    assert "qualities" in gangsaw.ok(*wanted, "--accept-loss").out
    assert target.read_bytes() == b">a b\nACGT\n"
