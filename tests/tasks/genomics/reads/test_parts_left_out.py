"""Stores without names or qualities, of pairs, of CR LF: what each call gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.command_line import CommandLine

import gangsaw
from gangsaw import reads

TEXT = b"@a/1\r\nACGTNNTTGAC\r\n+a/1\r\nIIIIIIIIIII\r\n@a/2\r\nACG\r\n+\r\nIII\r\n"
USAGE = 2


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.fastq"
    path.write_bytes(TEXT)
    return path


def test_without_names_and_qualities(source: Path, tmp_path: Path, gangsaw: CommandLine) -> None:
    store = tmp_path / "reads.zarr"
    gangsaw.ok("compress", source, store, "--names", "none", "--qualities", "none")
    found = reads.open(store)
    assert list(found) == [(b"", b"ACGTNNTTGAC", None), (b"", b"ACG", None)]
    assert found[:].qualities is None
    assert found[:].sequences.packed().other_places.tolist() == [4, 5]
    assert found.to_bag(1).map(len).compute(scheduler="sync") == [3, 3]
    gangsaw.ok("info", store, "--plot", tmp_path / "reads.png")
    assert set(gangsaw.ok("info", store, "--json").figures["reads"]["bits"]) == {"base", "record"}
    assert gangsaw.ok("extract", store, "0:1").out == ">\nACGTNNTTGAC\n"
    assert "holds no name" in gangsaw("index-reads", store).failed(USAGE)
    assert "no read is in an index of bins" in gangsaw("index-reads", store, "bins").failed(USAGE)
    assert not list(tmp_path.glob(".*"))


def test_pairs_whose_lines_end_with_cr_lf(source: Path, tmp_path: Path) -> None:
    gangsaw.compress(source, tmp_path / "reads.zarr", interleaved="yes")
    found = reads.open(tmp_path / "reads.zarr")
    assert found.contents.is_paired
    assert list(found[:].names) == [b"a/1", b"a/2"]
    assert found.text(0, 2) == TEXT
    assert found.to_bag().npartitions == 1
    assert [len(batch) for batch in found.batches(1)] == [1, 1]


def test_reads_of_no_letters(tmp_path: Path, gangsaw: CommandLine) -> None:
    (tmp_path / "in.fastq").write_bytes(b"@a\n\n+\n\n" * 3)
    gangsaw.ok("compress", tmp_path / "in.fastq", tmp_path / "reads.zarr")
    gangsaw.ok("info", tmp_path / "reads.zarr", "--plot", tmp_path / "reads.png")
    found = reads.open(tmp_path / "reads.zarr")
    assert list(found) == 3 * [(b"a", b"", b"")]
    assert len(found[2:9]) == 1
    assert list(found[1:1]) == []
