"""Files that are cut off or damaged: what was read counts, and hints that help."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from helpers.bgzipped import bgzip, member

import gangsaw
from gangsaw.codecs.core.errors import BadParams

RNG = np.random.default_rng(5)
RECORDS = [
    b"@r%d\n%s\n+\n%s\n" % (i, bytes(RNG.choice(list(b"ACGT"), 50).tolist()), b"I" * 50)
    for i in range(2000)
]
TEXT = b"".join(RECORDS)
END = len(member(b""))
PER_BLOCK = 50  # records


def blocks(end: bytes = b"") -> bytes:
    """Return BGZF whose blocks end with records, without the empty one."""
    parts = range(0, len(RECORDS), PER_BLOCK)
    return b"".join(member(b"".join(RECORDS[i : i + PER_BLOCK])) for i in parts) + end


def packed(folder: Path, data: bytes) -> Path:
    (folder / "a.fastq.gz").write_bytes(data)
    return folder / "a.fastq.gz"


def behind(folder: Path, data: bytes) -> int:
    with pytest.raises(BadParams, match=r"cut off|damaged") as caught:
        gangsaw.compress(packed(folder, data), folder / "a.zarr")
    (number,) = re.findall(r"\(behind record (\d+)\)$", str(caught.value))
    return int(number)


def test_the_place_of_a_cut_is_the_last_record_that_was_read(tmp_path: Path) -> None:
    whole = gzip.compress(TEXT)
    assert 1750 < behind(tmp_path, whole[:-3000]) < 2000
    data = bytearray(whole)
    data[-3000:-2990] = bytes(10)
    assert behind(tmp_path, bytes(data)) > 1500
    one_of_bgzip = bgzip(TEXT, 60_000)
    assert 1500 < behind(tmp_path, one_of_bgzip[:-3000]) < 2000


@pytest.mark.parametrize("end", [b"", bytes(512)], ids=["nothing", "zeros"])
@pytest.mark.parametrize("order", ["kept", "bins"])
def test_blocks_that_end_with_a_record_are_taken(tmp_path: Path, end: bytes, order: str) -> None:
    path = packed(tmp_path, blocks(end))
    (note,) = gangsaw.compress(path, tmp_path / "a.zarr", order=order).notes
    assert re.search(r"a.fastq.gz is cut off: .* \(behind record 2000\); it was taken", note)
    assert gangsaw.verify(tmp_path / "a.zarr", against=path).ok
    path = packed(tmp_path, bgzip(TEXT, 5000)[:-END] + end)
    gangsaw.compress(path, tmp_path / "b.zarr")  # the last one ends with a record, too
    inside = b"".join(member(TEXT[i : i + 3000]) for i in range(0, 30_000, 3000))
    assert behind(tmp_path, inside + end) == TEXT[:30_000].count(b"\n") // 4


def test_what_follows_zeros_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="behind its compressed data are bytes that are none"):
        gangsaw.compress(packed(tmp_path, blocks(bytes(99) + b"x")), tmp_path / "a.zarr")


def test_several_lines_are_no_other_format(tmp_path: Path) -> None:
    (tmp_path / "a.fq").write_bytes(b"@a\nACGT\nACGT\n+\nIIII\nIIII\n")
    with pytest.raises(BadParams, match=r"seqtk seq -l 0 joins them\)$"):
        gangsaw.compress(tmp_path / "a.fq", tmp_path / "a.zarr")


@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CR LF"])
def test_a_last_line_that_is_empty_may_lack_its_end(tmp_path: Path, ends: bytes) -> None:
    text = b"@a\nAC\n+\nII\n@b\n\n+\n".replace(b"\n", ends)
    (tmp_path / "a.fq").write_bytes(text)
    gangsaw.compress(tmp_path / "a.fq", tmp_path / "a.zarr")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.fq")
    assert (tmp_path / "b.fq").read_bytes() == text
    (tmp_path / "a.fq").write_bytes(text.replace(b"+", b"-"))
    with pytest.raises(BadParams):
        gangsaw.compress(tmp_path / "a.fq", tmp_path / "c.zarr")


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        ((77, 141, 4), "--singles yes keeps reads without mates behind the pairs"),
        ((77, 141, 77), "--singles yes keeps reads without mates behind the pairs"),
        ((77, 77), "samtools collate -o OUT puts mates together"),
    ],
)
def test_hints_of_bam_help(tmp_path: Path, flags: tuple[int, ...], hint: str) -> None:
    pytest.importorskip("pysam", reason="pysam is not installed")
    lines = (
        f"r{i // 2}\t{flag}\t*\t0\t0\t*\t*\t0\t0\tACGT\tFFFF\n" for i, flag in enumerate(flags)
    )
    (tmp_path / "a.sam").write_text("@HD\tVN:1.6\n" + "".join(lines))
    with pytest.raises(BadParams, match=hint):
        gangsaw.compress(tmp_path / "a.sam", tmp_path / "a.zarr")
