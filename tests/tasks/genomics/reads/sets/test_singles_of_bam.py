"""Reads without mates and tags of BAM: as `samtools fastq` writes them, and back into BAM."""

from __future__ import annotations

import shutil
import subprocess
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.command_line import CommandLine

import gangsaw
import gangsaw.reads
from gangsaw import compress
from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.formats.contract.format import ExportOptions
from gangsaw.tasks.genomics.reads.files import bam

pysam = pytest.importorskip("pysam", reason="pysam is not installed")

Tags = tuple[tuple[str, str], ...]
FASTQ = ExportOptions(format="fastq")


def write(path: Path, flags: list[tuple[str, int]], order: str = "unsorted") -> Path:
    """Write reads with tags of several types, some of them reversed."""
    rng = np.random.default_rng(7)
    header = {"HD": {"VN": "1.6", "SO": order}, "SQ": [{"SN": "c", "LN": 1000}]}
    with pysam.AlignmentFile(str(path), "wb", header=header) as file:
        for i, (name, flag) in enumerate(flags):
            one = pysam.AlignedSegment(file.header)
            one.query_name, one.flag = name, flag
            one.query_sequence = bytes(rng.choice(list(b"ACGTN"), 40).tolist()).decode()
            one.query_qualities = array("B", rng.integers(2, 40, 40).tolist())
            if not flag & 4:
                one.reference_id, one.reference_start, one.cigarstring = 0, 5, "40M"
            one.set_tag("CB", "ACGT-1")
            one.set_tag("XF", 1.5)
            one.set_tag("MM", "C+m,1,2,0;")
            one.set_tag("ML", array("B", [1, 200, i % 256]))
            if i % 3:
                one.set_tag("RX", "AC-GT x")
            file.write(one)
    return path


MIXED = [
    *(("u0", 4), ("p1", 97), ("p1", 145), ("s2", 77), ("p3", 141), ("p3", 77), ("s4", 137)),
    *(("p5", 99), ("p5", 355), ("p5", 147), ("u6", 16), ("s7", 129), ("p8", 77), ("p8", 141)),
]


def tags_of(path: Path) -> list[tuple[str, str, Tags]]:
    with pysam.AlignmentFile(str(path), check_sq=False) as file:
        reads = [s for s in file.fetch(until_eof=True) if not s.flag & 256]
    return sorted((s.query_name, s.get_forward_sequence(), _tags(s)) for s in reads)


def _tags(segment: Any) -> Tags:
    return tuple(sorted((name, str(value)) for name, value in segment.get_tags()))


def headers(path: Path) -> list[str]:
    return sorted(path.read_text().splitlines()[::4])


@pytest.mark.parametrize("tags", ["", "RX,CB", "CB,RX,ML", "all"])
@pytest.mark.parametrize("order", ["kept", "bins", "sorted"])
def test_singles_and_tags_are_those_of_samtools(tmp_path: Path, tags: str, order: str) -> None:
    if shutil.which("samtools") is None:
        pytest.skip("samtools is not installed")
    source, store = write(tmp_path / "m.bam", MIXED), tmp_path / "a.zarr"
    own = {"tags": tags} if tags else {}
    summary = gangsaw.compress(source, store, singles="yes", order=order, **own)
    left = {"": "CB, ML, MM, RX, XF", "RX,CB": "ML, MM, XF", "CB,RX,ML": "MM, XF"}
    assert (f"tags ({left.get(tags)})" in summary.notes[0]) is (tags != "all")
    theirs = [tmp_path / name for name in ("1", "2", "s", "0")]
    names = [word for path in theirs for word in (f"-{path.name}", path)]
    asked = ["-T", "*" if tags == "all" else tags] if tags else []
    subprocess.run(
        ["samtools", "fastq", "-n", *names, *asked, source], check=True, capture_output=True
    )
    ours = [tmp_path / f"{i}.fq" for i in range(3)]
    gangsaw.decompress(store, ours, options=FASTQ)
    assert headers(ours[2]) == sorted(headers(theirs[2]) + headers(theirs[3]))
    for one, other in zip(ours[:2], theirs[:2], strict=True):
        assert headers(one) == headers(other)
        assert order != "kept" or one.read_bytes() == other.read_bytes()
    assert gangsaw.verify(store, against=source).ok
    gangsaw.decompress(store, tmp_path / "back.bam")
    back = tags_of(tmp_path / "back.bam")
    wanted = tags_of(source)
    assert [own[:2] for own in back] == [own[:2] for own in wanted]
    kept = set(tags.split(",")) if tags != "all" else {name for name, _ in wanted[1][2]} | {"RX"}
    assert [own[2] for own in back] == [
        tuple(tag for tag in own[2] if tag[0] in kept) for own in wanted
    ]


def test_a_store_of_what_came_out_is_the_same(tmp_path: Path) -> None:
    source = write(tmp_path / "m.bam", MIXED)
    for number in range(2):
        store, copy = tmp_path / f"{number}.zarr", tmp_path / f"{number}.bam"
        gangsaw.compress(source, store, singles="yes", tags="all")
        gangsaw.decompress(store, copy)
        source = copy
    assert (tmp_path / "0.bam").read_bytes() == (tmp_path / "1.bam").read_bytes()


def test_tags_of_pairs_alone_are_verified_by_pysam(tmp_path: Path) -> None:
    source = write(tmp_path / "p.bam", [("a", 77), ("a", 141), ("b", 77), ("b", 141)])
    gangsaw.compress(source, tmp_path / "a.zarr", tags="RX,ML")
    report = gangsaw.verify(tmp_path / "a.zarr", against=source)
    assert report.ok
    assert report.readers == (f"pysam {pysam.__version__}",)
    reads = gangsaw.reads.open(tmp_path / "a.zarr")
    assert bytes(reads[1].names[0]) == b"a\tML:B:C,1,200,1\tRX:Z:AC-GT x"
    with pytest.raises(BadParams, match="was made with --tags RX,ML, not CB"):
        gangsaw.verify(tmp_path / "a.zarr", against=source, tags="CB")


def test_all_of_one_kind_and_none_at_all(tmp_path: Path) -> None:
    kinds = {"pairs": [("a", 77), ("a", 141)], "singles": [("a", 4), ("b", 77)], "none": []}
    for name, flags in kinds.items():
        source, store = write(tmp_path / f"{name}.bam", flags), tmp_path / f"{name}.zarr"
        gangsaw.compress(source, store, singles="yes")
        assert gangsaw.verify(store, against=source).ok, name
        gangsaw.decompress(store, tmp_path / f"{name}.copy.bam")
        wanted = [own[:2] for own in tags_of(source)]
        assert [own[:2] for own in tags_of(tmp_path / f"{name}.copy.bam")] == wanted


@pytest.mark.parametrize("batch", [1, 4, 1 << 14])
def test_mates_that_are_apart_are_no_singles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    monkeypatch.setattr(bam, "BATCH", batch)
    flags = [("p1", 77), ("s2", 77), ("u3", 4), ("p1", 141), ("u3", 4), ("s2", 77)]
    store = tmp_path / "a.zarr"
    with pytest.raises(BadParams, match=r"the mates p1 do not follow each other: .*\(samtools col"):
        gangsaw.compress(write(tmp_path / "apart.bam", flags), store, singles="yes")
    assert not store.exists()
    gangsaw.compress(write(tmp_path / "a.bam", flags[1:]), store, singles="yes")
    assert len(gangsaw.reads.open(store)) == 5


def test_what_cannot_be_kept_is_refused(tmp_path: Path, gangsaw: CommandLine) -> None:
    source = write(tmp_path / "m.bam", MIXED)
    store = tmp_path / "a.zarr"
    line = gangsaw("compress", source, store).failed(2)
    assert "record 2 is one of a pair, those before are not (--singles yes stores" in line
    line = gangsaw("compress", source, store, "--singles", "yes", "--tags", "R").failed(2)
    assert "tags must be like RX,CB or all, got 'R'" in line
    line = gangsaw(
        "compress", source, store, "--singles", "yes", "--tags", "RX", "--names", "number"
    ).failed(2)
    assert "--tags are stored after names: leave --names out" in line
    by_place = write(tmp_path / "c.bam", MIXED, "coordinate")
    line = gangsaw("compress", by_place, store, "--singles", "yes").failed(2)
    assert "sorted by position, so that mates are not adjacent (samtools collate" in line
    assert not store.exists()
    compress(source, store, singles="yes", tags="none")
    assert "tags" not in gangsaw.ok("info", store, "--json").figures["reads"]
    compress(source, store, singles="yes", tags="CB,RX", overwrite=True)
    assert "tags CB,RX" in gangsaw.ok("info", store).out


def test_an_order_that_stopped_goes_on_with_the_same_tags_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, store = write(tmp_path / "m.bam", MIXED), tmp_path / "a.zarr"
    how: dict[str, Any] = {"singles": "yes", "order": "bins"}
    with monkeypatch.context() as patch:
        patch.setattr("gangsaw.tasks.genomics.reads.stream.stream.ReadWriter.last", _stop)
        with pytest.raises(JobFailed, match="no space"):
            gangsaw.compress(source, store, tags="RX", **how)
    with pytest.raises(BadParams, match="holds a different job"):
        gangsaw.compress(source, store, tags="CB", resume=True, **how)
    gangsaw.compress(source, store, tags="RX", resume=True, **how)
    assert gangsaw.verify(store, against=source).ok
    assert b"".join(gangsaw.reads.open(store)[:].names).count(b"RX:Z:") == 8


def _stop(_: object) -> None:
    raise JobFailed("no space")


def test_qualities_that_no_read_has_are_not_lost(gangsaw: CommandLine, tmp_path: Path) -> None:
    with pysam.AlignmentFile(str(tmp_path / "a.bam"), "wb", header={"HD": {"VN": "1.6"}}) as file:
        one = pysam.AlignedSegment(file.header)
        one.query_name, one.flag, one.query_sequence = "r", 4, "ACGT"
        file.write(one)
    compress(tmp_path / "a.bam", tmp_path / "a.zarr")
    gangsaw.ok("decompress", tmp_path / "a.zarr", tmp_path / "b.fa", "--format", "fasta")
    assert (tmp_path / "b.fa").read_text() == ">r\nACGT\n"
