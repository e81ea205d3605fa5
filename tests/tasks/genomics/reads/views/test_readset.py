"""Reads of a store by number, in Python and by `gangsaw extract`."""

from __future__ import annotations

import gzip
import pickle
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine

import gangsaw
from gangsaw import reads
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.reads import Ragged
from gangsaw.tasks.genomics.reads.commands.extract import parse_range

N = 500
USAGE = 2  # exit code


@pytest.fixture(scope="module")
def texts() -> list[bytes]:
    """Records of a text, one for each read."""
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, 40, N)
    sequences = [bytes(rng.choice(np.frombuffer(b"ACGTN", "u1"), n)) for n in lengths]
    qualities = [bytes(rng.integers(33, 75, n, np.uint8)) for n in lengths]
    pairs = zip(sequences, qualities, strict=True)
    return [b"@read %d\n%s\n+\n%s\n" % (i, s, q) for i, (s, q) in enumerate(pairs)]


@pytest.fixture(scope="module")
def store(texts: list[bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reads")
    (folder / "in.fastq").write_bytes(b"".join(texts))
    gangsaw.compress(folder / "in.fastq", folder / "reads.zarr")
    return folder / "reads.zarr"


def test_reads_are_arrays_of_lines(store: Path, texts: list[bytes]) -> None:
    found = reads.open(store)
    assert len(found) == N
    part = found[100:120]
    lines = [text.split(b"\n") for text in texts[100:120]]
    assert (part.first, len(part)) == (100, 20)
    assert list(part.names) == [line[0][1:] for line in lines]
    assert list(part.sequences) == [line[1] for line in lines]
    assert part.qualities is not None
    assert list(part.qualities) == [line[3] for line in lines]
    assert part.sequences.data.size == part.sequences.offsets[-1]
    assert found[-1].sequences[0] == texts[-1].split(b"\n")[1]
    assert sum(len(batch) for batch in found.batches(64)) == N
    assert len(found[7:3]) == 0


def lines_of(texts: list[bytes]) -> list[tuple[bytes, bytes, bytes]]:
    """Name, sequence and quality of records."""
    lines = (text.split(b"\n") for text in texts)
    return [(name[1:], sequence, quality) for name, sequence, _, quality, _ in lines]


def test_reads_come_one_by_one(store: Path, texts: list[bytes]) -> None:
    found = reads.open(store)
    assert list(found) == lines_of(texts)
    assert [tuple(read) for read in found[3:5]] == lines_of(texts)[3:5]
    with pytest.raises(BadParams, match="1 read or more"):
        next(found.batches(0))


def test_reads_become_an_arrow_table(store: Path, texts: list[bytes]) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = reads.open(store)[3:9].to_arrow()
    assert [str(kind) for kind in table.schema.types] == ["large_string"] * 3
    rows = [tuple(value.encode() for value in row.values()) for row in table.to_pylist()]
    assert rows == lines_of(texts)[3:9]
    with pytest.raises(BadParams, match="UTF-8"):
        Ragged(np.array([200], np.uint8), np.array([0, 1])).to_arrow()


def test_reads_become_an_awkward_array(store: Path, texts: list[bytes]) -> None:
    pytest.importorskip("awkward", reason="awkward is not installed")
    array = reads.open(store)[3:9].to_awkward()
    assert [tuple(row.values()) for row in array.to_list()] == lines_of(texts)[3:9]


def test_a_library_that_is_missing_is_named(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "awkward", None)
    with pytest.raises(BadParams, match="awkward is missing: pip install awkward"):
        reads.open(store)[3:9].to_awkward()


def test_letters_are_packed_by_two_bits() -> None:
    lines = [b"", b"TGCA" * 8, b"ACGTN" * 13, b"C", b"nnn", b"A" * 31 + b"TTG"]
    offsets = np.cumsum([0, *map(len, lines)])
    ragged = Ragged(np.frombuffer(b"".join(lines), np.uint8), offsets)
    packed = ragged.packed()
    assert packed.offsets.tolist() == [0, 0, 1, 4, 5, 6, 8]
    first, _, last = (int(packed.words[i]) for i in (0, 1, -1))
    assert first == sum("ACGT".index(letter) << 2 * i for i, letter in enumerate("TGCA" * 8))
    assert last == 0b10_11  # T, then G: the first letter is lowest
    assert bytes(packed.other_letters) == b"N" * 13 + b"nnn"
    assert list(packed.unpacked()) == lines
    assert list(Ragged(ragged.data[:0], offsets[:1]).packed().unpacked()) == []


def test_a_bag_has_a_partition_for_some_reads(store: Path, texts: list[bytes]) -> None:
    bag = reads.open(store).to_bag(128)
    assert bag.npartitions == 4
    pickle.loads(pickle.dumps(bag))  # as it goes to workers
    assert bag.compute(scheduler="sync") == lines_of(texts)


def test_what_is_not_there_is_refused(store: Path, tmp_path: Path) -> None:
    found = reads.open(store)
    with pytest.raises(IndexError, match=f"there is no read {N}: .* has {N}"):
        found[N]
    with pytest.raises(IndexError):
        found[-N - 1]
    with pytest.raises(TypeError):
        found["1"]  # type: ignore[index]
    zarr.create_array(tmp_path / "other.zarr", shape=(3,), dtype="u1")
    with pytest.raises(BadParams, match=r"other.zarr: it holds no reads"):
        reads.open(tmp_path / "other.zarr")


def test_xarray_opens_the_arrays(store: Path) -> None:
    import xarray as xr

    found = xr.open_zarr(store)
    assert found["sequence"].dtype == np.uint8
    assert found["sequence_offset"].sizes == {"sequence_line": N + 1}


def test_offsets_that_do_not_grow_are_corrupt(store: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(store, tmp_path / "copy.zarr")
    offsets = zarr.open_group(tmp_path / "copy.zarr")["sequence_offset"]
    assert isinstance(offsets, zarr.Array)
    offsets[7] = 1 << 40
    with pytest.raises(CorruptChunk, match="sequence_offset does not grow"):
        reads.open(tmp_path / "copy.zarr")[0:20]
    offsets[:] = np.arange(N + 1) + (1 << 40)
    with pytest.raises(CorruptChunk, match="none at"):
        reads.open(tmp_path / "copy.zarr")[0:20]


def test_extract_writes_fastq(store: Path, texts: list[bytes], gangsaw: CommandLine) -> None:
    assert gangsaw.ok("extract", store, "10:13").out == b"".join(texts[10:13]).decode()
    assert gangsaw.ok("extract", store, "499").out == texts[499].decode()
    assert "there is no read 500" in gangsaw("extract", store, "500").failed(USAGE)
    assert "must be like 1000:2000" in gangsaw("extract", store, "a:b").failed(USAGE)


def test_numbers_are_read_as_python_reads_them() -> None:
    assert parse_range("5:9", 20) == (5, 9)
    assert parse_range(":9", 20) == (0, 9)
    assert parse_range("-3:", 20) == (17, 20)
    assert parse_range("-1", 20) == (19, 20)
    assert parse_range("9:5", 20) == (9, 9)


@pytest.mark.parametrize("step", [1, 2, 7, -1, -3])
def test_steps_and_lists_are_taken_as_numpy_takes_them(store: Path, step: int) -> None:
    found = reads.open(store)
    names = list(found[:].names)
    for bounds in (slice(None, None, step), slice(20, 400, step), slice(400, 20, step)):
        some = found[bounds]
        assert list(some.names) == names[bounds]
        assert some.qualities is not None
        assert list(some.qualities) == [read.quality for read in list(found)[bounds]]
    numbers = [3, 499, 3, -1, 250]
    assert list(found[numbers].names) == [names[i] for i in numbers]
    assert list(found[np.array(numbers)].sequences) == [found[i].sequences[0] for i in numbers]
    assert len(found[[]]) == 0
    with pytest.raises(IndexError, match="there is no read 500"):
        found[[1, 500]]


def test_names_of_a_file_go_to_a_file(
    store: Path, texts: list[bytes], tmp_path: Path, gangsaw: CommandLine
) -> None:
    copy, out = tmp_path / "copy.zarr", tmp_path / "some.fq.gz"
    shutil.copytree(store, copy)
    gangsaw.ok("index-reads", copy, "names", "--quiet")
    heads = [texts[i].split(b"\n")[0][1:] for i in (7, 30)]
    (tmp_path / "names.txt").write_bytes(b"\n".join([*heads, b"", b""]))
    assert gangsaw.ok("extract", copy, "--name-file", tmp_path / "names.txt", "--to", out).out == ""
    assert gzip.decompress(out.read_bytes()) == texts[7] + texts[30]
    assert "exists" in gangsaw("extract", copy, "5", "--to", out).failed(USAGE)


def test_reads_without_qualities_go_out_as_fasta(tmp_path: Path, gangsaw: CommandLine) -> None:
    (tmp_path / "a.fq").write_bytes(b"@a b\nACGT\n+\nIIII\n@c\nA\n+\nI\n")
    store, out = tmp_path / "a.zarr", tmp_path / "a.fa"
    gangsaw.ok("compress", tmp_path / "a.fq", store, "--qualities", "none", "--quiet")
    assert gangsaw.ok("extract", store, "0").out == ">a b\nACGT\n"
    gangsaw.ok("decompress", store, out, "--quiet")
    assert out.read_bytes() == b">a b\nACGT\n>c\nA\n"
