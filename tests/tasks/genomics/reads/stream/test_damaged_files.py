"""Files that are cut off or damaged: what was read counts, and hints that help."""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Callable
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
    (number,) = re.findall(r"\(after record (\d+)\)$", str(caught.value))
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
    assert re.search(r"a.fastq.gz is cut off: .* \(after record 2000\); it was stored", note)
    assert gangsaw.verify(tmp_path / "a.zarr", against=path).ok
    path = packed(tmp_path, bgzip(TEXT, 5000)[:-END] + end)
    gangsaw.compress(path, tmp_path / "b.zarr")  # the last one ends with a record, too
    inside = b"".join(member(TEXT[i : i + 3000]) for i in range(0, 30_000, 3000))
    assert behind(tmp_path, inside + end) == TEXT[:30_000].count(b"\n") // 4


@pytest.mark.parametrize("zeros", [1, 512, 3 << 20])
@pytest.mark.parametrize("pack", [lambda text: bgzip(text, 5000), gzip.compress])
@pytest.mark.parametrize("order", ["kept", "bins"])
def test_zeros_behind_whole_data_are_told(
    tmp_path: Path, pack: Callable[[bytes], bytes], zeros: int, order: str
) -> None:
    path = packed(tmp_path, pack(TEXT) + bytes(zeros))
    (note,) = gangsaw.compress(path, tmp_path / "a.zarr", order=order).notes
    assert f"a.fastq.gz: {zeros:,} zeros follow its compressed data; they were left out" in note
    assert gangsaw.verify(tmp_path / "a.zarr", against=path).ok
    several = pack(TEXT) + bytes(zeros) + pack(TEXT)  # padding between members is no damage
    assert gangsaw.compress(packed(tmp_path, several), tmp_path / "b.zarr").notes == ()


def test_zeros_behind_xz_are_its_own_padding(tmp_path: Path) -> None:
    (tmp_path / "a.fastq.xz").write_bytes(lzma.compress(TEXT) + bytes(8))
    assert gangsaw.compress(tmp_path / "a.fastq.xz", tmp_path / "a.zarr").notes == ()
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(TEXT) + bytes(8))
    first, _ = gangsaw.compress(tmp_path / "a.txt.gz", tmp_path / "t.zarr", format="text").notes
    assert "8 zeros follow its compressed data" in first


def test_colour_space_is_kept_and_told_or_refused_by_its_name(tmp_path: Path) -> None:
    whole = b"@a\nT0123.01\n+\n!IIIIIII\n" * 3
    (tmp_path / "a.fastq").write_bytes(whole)
    (note,) = gangsaw.compress(tmp_path / "a.fastq", tmp_path / "a.zarr").notes
    assert "is in colour space, of SOLiD: its digits were stored" in note
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "copy.fastq")
    assert (tmp_path / "copy.fastq").read_bytes() == whole
    (tmp_path / "a.fa").write_bytes(b">a\nT0123.01\n>b\nT01\n")
    (note,) = gangsaw.compress(tmp_path / "a.fa", tmp_path / "f.zarr", format="fasta").notes
    assert "is in colour space" in note
    (tmp_path / "b.fastq").write_bytes(whole.replace(b"!", b""))
    with pytest.raises(BadParams, match=r"line 4, record 1.*in colour space, of SOLiD: --format t"):
        gangsaw.compress(tmp_path / "b.fastq", tmp_path / "b.zarr")
    (tmp_path / "x.csfasta").write_bytes(b"# Title: x\n>1_F3\nT0123.\n")
    with pytest.raises(BadParams, match=r"as in .csfasta of SOLiD: --format text keeps"):
        gangsaw.compress(tmp_path / "x.csfasta", tmp_path / "b.zarr", format="fasta")
    for name in ("b.fastq", "x.csfasta"):
        gangsaw.compress(tmp_path / name, tmp_path / f"{name}.zarr", format="text")
        gangsaw.decompress(tmp_path / f"{name}.zarr", tmp_path / "copy.txt", overwrite=True)
        assert (tmp_path / "copy.txt").read_bytes() == (tmp_path / name).read_bytes()


def test_what_follows_zeros_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="other bytes follow its compressed data"):
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
        ((77, 141, 4), "--singles yes stores reads without mates after the pairs"),
        ((77, 141, 77), "--singles yes stores reads without mates after the pairs"),
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
