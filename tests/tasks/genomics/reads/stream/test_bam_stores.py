"""BAM, CRAM and SAM into stores and back: the reads as they were sequenced, and what is lost."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import zarr
from helpers.command_line import CommandLine

import gangsaw
from gangsaw.codecs.core.errors import BadParams

pysam = pytest.importorskip("pysam", reason="pysam is not installed")

HEADER = {"HD": {"VN": "1.6"}, "SQ": [{"SN": "c", "LN": 1000}], "RG": [{"ID": "x"}]}
FIRST, LAST = 77, 141  # flags of unaligned mates
Read = tuple[str, int, str, bytes | None]
SINGLE: list[Read] = [
    ("a", 4, "ACGTN", b"\0\5\2\3\x5d"),
    ("b", 4, "", None),
    ("c", 4, "RYKM=", None),
]


def write(path: Path, reads: Iterable[Read], **more: Any) -> Path:
    """Write reads; `more` are attributes of all of them."""
    mode = {".bam": "wb", ".sam": "wh", ".cram": "wc"}[path.suffix]
    header = pysam.AlignmentHeader.from_dict(HEADER)
    with pysam.AlignmentFile(str(path), mode, header=header) as out:
        for name, flag, sequence, qualities in reads:
            one = pysam.AlignedSegment(header)
            one.query_name, one.flag, one.query_sequence = name, flag, sequence or None
            one.query_qualities = None if qualities is None else array("B", qualities)
            for key, value in more.items():
                setattr(one, key, value)
            out.write(one)
    return path


def read(path: Path) -> list[Read]:
    with pysam.AlignmentFile(str(path), check_sq=False) as file:
        return [
            (
                s.query_name,
                s.flag,
                s.query_sequence or "",
                None if s.query_qualities is None else s.query_qualities.tobytes(),
            )
            for s in file.fetch(until_eof=True)
        ]


@pytest.mark.parametrize("suffix", [".bam", ".sam", ".cram"])
def test_unaligned_reads_come_back(tmp_path: Path, suffix: str, capfd: Any) -> None:
    store, copy = tmp_path / "a.zarr", tmp_path / f"copy{suffix}"
    summary = gangsaw.compress(write(tmp_path / f"a{suffix}", SINGLE), store)
    gangsaw.decompress(store, copy)
    assert read(copy) == SINGLE
    assert summary.notes == ("not in the store: lines of the header (@SQ, @RG)",)
    assert gangsaw.verify(store, against=tmp_path / f"a{suffix}").ok
    with pytest.raises(BadParams, match="record 3 has no qualities, which FASTQ needs"):
        gangsaw.decompress(store, tmp_path / "a.fq", options=fastq())


def fastq(name: str = "fastq") -> Any:
    from gangsaw.tasks.formats.contract.format import ExportOptions

    return ExportOptions(format=name)


@pytest.mark.parametrize("order", ["kept", "sorted"])
def test_mates_become_pairs_and_mates_again(tmp_path: Path, order: str) -> None:
    pairs = [(f"r{i // 2}", (FIRST, LAST)[i % 2], "ACGT" * 9, b"\5" * 36) for i in range(8)]
    store = tmp_path / "a.zarr"
    gangsaw.compress(write(tmp_path / "a.bam", pairs), store, order=order)
    assert zarr.open_group(store)["sequence"].attrs["pairs"] is True
    gangsaw.decompress(store, tmp_path / "copy.bam")
    found = read(tmp_path / "copy.bam")
    assert [flag for _, flag, _, _ in found] == [FIRST, LAST] * 4
    assert sorted(found) == sorted(pairs)
    gangsaw.decompress(store, [tmp_path / "a_1.fq", tmp_path / "a_2.fq"], options=fastq())
    assert (tmp_path / "a_2.fq").read_text().count("ACGTACGT") == 16


def test_aligned_reads_are_as_they_were_sequenced(tmp_path: Path) -> None:
    reads = [("a", 16, "AACRT", b"\1\2\3\4\5"), ("a", 256, "AACRT", None), ("b", 512, "GG", None)]
    more = {"reference_id": 0, "reference_start": 7}
    path = write(tmp_path / "a.bam", reads, cigarstring=None, **more)
    with (
        pysam.AlignmentFile(str(path)) as file,
        pysam.AlignmentFile(str(tmp_path / "b.bam"), "wb", template=file) as out,
    ):
        for one in file.fetch(until_eof=True):
            one.set_tag("NM", 1)
            out.write(one)
    summary = gangsaw.compress(tmp_path / "b.bam", tmp_path / "a.zarr")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "copy.bam")
    assert read(tmp_path / "copy.bam") == [("a", 4, "AYGTT", b"\5\4\3\2\1"), ("b", 4, "GG", None)]
    (note,) = summary.notes
    for lost in ("tags (NM)", "alignments", "1 secondary and supplementary", "failed checks"):
        assert lost in note


def test_a_file_without_records_comes_back(tmp_path: Path) -> None:
    gangsaw.compress(write(tmp_path / "a.bam", []), tmp_path / "a.zarr")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "copy.bam")
    assert read(tmp_path / "copy.bam") == []


@pytest.mark.parametrize(
    ("reads", "problem"),
    [
        ([("a", FIRST, "A", None), ("b", LAST, "A", None)], "record 2 and its mate do not follow"),
        ([("a", LAST, "A", None), ("a", FIRST, "A", None)], "record 1 and its mate do not follow"),
        ([("a", FIRST, "A", None)], "record 1 has no mate"),
        ([("a", 4, "A", None), ("a", FIRST, "A", None)], "record 2 is one of a pair"),
        ([("a", 4, "A", b"\x5e")], "record 1 has a quality of 94"),
    ],
)
def test_what_is_no_read_set_is_named(tmp_path: Path, reads: list[Read], problem: str) -> None:
    with pytest.raises(BadParams, match=rf"a.bam:? {problem}"):
        gangsaw.compress(write(tmp_path / "a.bam", reads), tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()


def test_clipped_and_cut_off_files_are_refused(tmp_path: Path, capfd: Any) -> None:
    more = {"reference_id": 0, "reference_start": 5, "cigarstring": "4M9H"}
    clipped = write(tmp_path / "a.sam", [("a", 0, "ACGT", None)], **more)
    with pytest.raises(BadParams, match="record 1, a, is clipped"):
        gangsaw.compress(clipped, tmp_path / "a.zarr")
    whole = write(tmp_path / "b.bam", SINGLE).read_bytes()
    (tmp_path / "b.bam").write_bytes(whole[:-28])
    with pytest.raises(BadParams, match=r"b.bam: it is incomplete, or no BAM"):
        gangsaw.compress(tmp_path / "b.bam", tmp_path / "b.zarr")
    assert capfd.readouterr().err == ""


def test_fastq_to_bam_has_to_be_meant(tmp_path: Path, gangsaw: CommandLine) -> None:
    (tmp_path / "a.fastq").write_bytes(b"@a/1 x\nACGT\n+\nIIII\n@a/2 x\nAC.T\n+\nIIII\n")
    store, target = tmp_path / "a.zarr", tmp_path / "a.bam"
    gangsaw.ok("compress", tmp_path / "a.fastq", store, "--interleaved", "yes")
    assert "pass --format fastq or bam" in gangsaw("decompress", store, target).failed(2)
    line = gangsaw("decompress", store, target, "--format", "bam").failed(2)
    assert "cannot hold what stands behind a blank in names; --accept-loss" in line
    assert "lines behind +" not in line
    wanted = ("decompress", store, target, "--format", "bam", "--accept-loss")
    line = gangsaw(*wanted).failed(2)
    assert "record 2: BAM cannot hold '.' in a sequence" in line
    assert not target.exists()
    text = (tmp_path / "a.fastq").read_bytes().replace(b".", b"G")
    (tmp_path / "a.fastq").write_bytes(text)
    gangsaw.ok("compress", tmp_path / "a.fastq", store, "--interleaved", "yes", "--overwrite")
    assert "behind a blank" in gangsaw.ok(*wanted).out
    assert read(target) == [("a", FIRST, "ACGT", b"(((("), ("a", LAST, "ACGT", b"((((")]


def test_pysam_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "a.bam", SINGLE)
    monkeypatch.setitem(sys.modules, "pysam", None)
    with pytest.raises(BadParams, match=r'pysam is missing: pip install "gangsaw\[bam\]"'):
        gangsaw.compress(path, tmp_path / "a.zarr")


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_damage_is_no_missing_file(tmp_path: Path, share: float) -> None:
    reads = [(f"r{i}", 4, "ACGTN" * (i % 30), None) for i in range(4000)]
    data = bytearray(write(tmp_path / "a.bam", reads).read_bytes())
    data[int(len(data) * share)] ^= 255
    (tmp_path / "a.bam").write_bytes(data)
    with pytest.raises(BadParams, match=r"a.bam: it is incomplete, .*damaged") as caught:
        gangsaw.compress(tmp_path / "a.bam", tmp_path / "a.zarr")
    assert "No such file" not in str(caught.value)


def test_a_header_without_references_loses_none(tmp_path: Path) -> None:
    (tmp_path / "a.sam").write_text("@HD\tVN:1.6\nr\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tFFFF\n")
    assert gangsaw.compress(tmp_path / "a.sam", tmp_path / "a.zarr").notes == ()


@pytest.mark.parametrize("order", ["kept", "sorted"])
def test_what_another_file_loses_is_no_difference(
    tmp_path: Path, gangsaw: CommandLine, order: str
) -> None:
    """The file that is made of a store lacks what the first one lost, and holds the same reads."""
    store, copy = tmp_path / "a.zarr", tmp_path / "copy.bam"
    first = write(tmp_path / "a.bam", SINGLE, tags=[("NM", 3)])
    gangsaw.ok("compress", first, store, "--order", order)
    gangsaw.ok("decompress", store, copy)
    gangsaw.ok("verify", store, "--against", copy)
    write(copy, [*SINGLE[:2], ("d", 4, "RYKM=", None)])
    found = gangsaw("verify", store, "--against", copy)
    assert (found.code, "differ" in found.err) == (1, True), found.err
