"""`gangsaw bin`: reads in another order, into a store or FASTQ."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
from helpers.command_line import CommandLine

from gangsaw import reads
from gangsaw.tasks.genomics.reads.order import job
from gangsaw.tasks.genomics.reads.order.steps import Arrange
from gangsaw.tasks.genomics.reads.synthetic import make_reads

MADE = make_reads(300, 80, genome=2000)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "reads_1.fastq", tmp_path / "reads_2.fastq"]
    for path, text in zip(paths, (MADE.first, MADE.second), strict=True):
        path.write_bytes(text)
    return paths


def records(text: bytes) -> list[bytes]:
    lines = text.splitlines(keepends=True)
    return [b"".join(lines[i : i + 4]) for i in range(0, len(lines), 4)]


def test_bin_gives_the_records_in_their_order(
    files: list[Path], tmp_path: Path, gangsaw: CommandLine
) -> None:
    store, first, second, both = (
        tmp_path / f"{n}" for n in ("x.zarr", "1.fq.gz", "2.fq", "b.fastq")
    )
    gangsaw.ok("bin", *files, store, "--quiet")
    gangsaw.ok("bin", *files, first, "--mates", second)
    gangsaw.ok("bin", *files, both)
    texts = gzip.decompress(first.read_bytes()), second.read_bytes()
    order = [read.name for read in reads.open(store)]
    pairs = list(zip(*map(records, texts), strict=True))
    assert [record.split(b"\n")[0][1:] for pair in pairs for record in pair] == order
    assert both.read_bytes() == b"".join(record for pair in pairs for record in pair)
    assert Counter(pairs) == Counter(zip(records(MADE.first), records(MADE.second), strict=True))
    gangsaw.ok("bin", both, tmp_path / "again.zarr", "--interleaved", "--order", "sorted")
    assert reads.open(tmp_path / "again.zarr").contents.is_paired
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_bin_refuses_what_it_cannot_write(
    files: list[Path], tmp_path: Path, gangsaw: CommandLine
) -> None:
    copy = tmp_path / "in.fastq"
    copy.write_bytes(b"@r\nA\n+\nI\n")
    assert "is read: give another" in gangsaw("bin", copy, copy, "--overwrite").failed(2)
    assert "holds no pairs" in gangsaw("bin", copy, "a.fq", "--mates", "b.fq").failed(2)
    assert "a target is one .zarr" in gangsaw("bin", copy, tmp_path / "out.txt").failed(2)
    assert "--order must be bins or sorted" in gangsaw(
        "bin", copy, "a.fq", "--order", "kept"
    ).failed(2)
    assert "exists" in gangsaw("bin", files[0], copy).failed(2)
    assert copy.read_bytes() == b"@r\nA\n+\nI\n"
    assert sorted(tmp_path.iterdir()) == [copy, *files]


def test_bin_says_what_it_would_do(files: list[Path], tmp_path: Path, gangsaw: CommandLine) -> None:
    for target, kind in (("out.fastq", "FASTQ"), ("out.zarr", "Zarr")):
        command = ("bin", *files, tmp_path / target, "--dry-run")
        plan = gangsaw.ok(*command, "--json").figures
        assert (plan["targets"], plan["format"]) == ([str(tmp_path / target)], kind)
        assert "dry run" in gangsaw.ok(*command).out
    assert "bins through files" in gangsaw.ok("bin", *files, tmp_path / "o.fq", "--dry-run").out
    assert sorted(tmp_path.iterdir()) == files
    for target, said in (("no/o.fq", "no such directory"), ("o.fq.zst", "is not supported")):
        assert said in gangsaw("bin", *files, tmp_path / target, "--dry-run").failed(2)


def test_bin_reads_and_writes_pipes(
    tmp_path: Path, gangsaw: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "r.fastq").write_text("@r\nACGT\n+\nIIII\n")
    with (tmp_path / "r.fastq").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert gangsaw.ok("bin", "-", "-", "--quiet").out == "@r\nACGT\n+\nIIII\n"


@pytest.mark.parametrize("where", ["beside", "scratch"])
def test_bin_goes_on_where_it_stopped(
    files: list[Path],
    tmp_path: Path,
    gangsaw: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
) -> None:
    scratch, out, whole = tmp_path / "scratch", tmp_path / "o.fq", tmp_path / "w.fq"
    scratch.mkdir()
    gangsaw.ok("bin", *files, whole, "--quiet")
    own = ("--scratch", scratch) if where == "scratch" else ()
    taken = []
    with monkeypatch.context() as patch:
        patch.setattr(Arrange, "__call__", stopped)
        assert "run again with --resume" in gangsaw("bin", *files, out, *own, "--quiet").failed(1)
    room = scratch if own else tmp_path
    assert [path for path in room.iterdir() if "gangsaw-stage-order" in path.name]
    real = job.take_in
    monkeypatch.setattr(job, "take_in", lambda *args: taken.append(1) or real(*args))
    gangsaw.ok("bin", *files, out, *own, "--quiet", "--resume")
    assert (out.read_bytes(), taken) == (whole.read_bytes(), [])
    assert sorted(tmp_path.iterdir()) == sorted([*files, scratch, out, whole])
    assert not any(scratch.iterdir())


def stopped(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.full
def test_bin_on_workers(files: list[Path], tmp_path: Path, gangsaw: CommandLine) -> None:
    here, there = tmp_path / "a.fq", tmp_path / "b.fq"
    gangsaw.ok("bin", *files, here, "--quiet")
    gangsaw.ok("bin", *files, there, "--quiet", "--workers", "1")
    assert there.read_bytes() == here.read_bytes()
    assert "no such folder" in gangsaw("bin", *files, "c.fq", "--scratch", "no").failed(2)
