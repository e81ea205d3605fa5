"""Germline files that are wrong, damaged or hostile: one error, or what can be read."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from helpers.germline_files import BODY, FASTA, V, Write, opened, parts, written
from helpers.zstd_frames import pzstd, zstd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline import open_germline


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file, .gz if so named; return its path."""
    return partial(written, tmp_path)


@pytest.mark.parametrize(
    ("content", "name", "why"),
    [
        ("", "a.fasta", "a.fasta is empty"),
        ("\n \n", "a.fasta", "a.fasta is empty"),
        (">", "a.fasta", "no header names a V, D or J gene"),
        (">seq1\nACGT\n", "a.fasta", "no header names a V, D or J gene"),
        (f">TRBV{'9' * 5000}\nACGT\n", "a.fasta", "no header names a V, D or J gene"),
        (
            FASTA.replace(V, "N" * 20_000),
            "a.fa",
            "left out: 20000 nucleotides are more than a gene",
        ),
        (">TRAV1*01\nACGT\n", "a.fasta", "a.fasta: no gene of TRB in it"),
        (f">TRBV1*01\n{V}\n", "a.fasta", "no D gene of TRB in it: give its file, too"),
        (FASTA.replace("GGGACA", "GGGXCA"), "a.fasta", r"line 3: TRBD1\*01: 'X' at position 4"),
        (FASTA.replace(V, BODY), "a.fasta", r"none of 1 V genes can be used: TRBV1\*01 left out"),
        (FASTA.replace(V, ""), "a.fasta", r"TRBV1\*01 left out: it has no sequence"),
        ("hello\nworld\n", "a.txt", "names no column allele or gene .* and it is no FASTA"),
        ("allele\tmore\nTRBV1*01\t1\n", "a.tsv", "names no column cdr3_part or part or germline"),
        (f'allele,part\n"TRBV1*01,{"A" * 200_000}', "a.csv", "line 2: field larger than"),
        (b"\x00\x01\x02" * 9, "a.fasta", "a.fasta is no text"),
        (b">TRBV1*01\nAC\xff", "a.fasta", "a.fasta, line 2: is not UTF-8"),
        (b"\x1f\x8b\x08", "a.fasta", "a.fasta is cut off: its compressed data end too early"),
        (
            gzip.compress(FASTA.encode(), mtime=0)[:-20],
            "a.fa",
            "a.fa is cut off: its compressed data end too early",
        ),
        (
            gzip.compress(FASTA.encode(), mtime=0)[:-8] + b"x" * 8,
            "a.fa",
            "compressed data are damaged",
        ),
    ],
)
def test_wrong_file(write: Write, content: str | bytes, name: str, why: str) -> None:
    with pytest.raises(BadParams, match=why):
        opened(write(content, name))


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match=r"none.fasta: no such file"):
        opened(tmp_path / "none.fasta")
    with pytest.raises(BadParams, match="is a folder: name the files in it"):
        opened(tmp_path)
    with pytest.raises(BadParams, match="no germline: give FASTA files, tables or olga"):
        open_germline([], locus="TRB")


def test_bomb(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    from gangsaw.tasks.tcr.germline import text

    monkeypatch.setattr(text, "MOST_BYTES", 1 << 20)
    with pytest.raises(BadParams, match="more than 1 MB are no germline"):
        opened(write(b"A" * (1 << 21), "bomb.gz"))


@given(raw=st.binary(max_size=200), head=st.sampled_from([b"", b">TRBV1*01\n", b"gene,part\n"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_germline_or_one_error(write: Write, raw: bytes, head: bytes) -> None:
    with pytest.raises(BadParams) as caught:
        opened(write(head + raw))
    assert str(caught.value)


@given(at=st.integers(0, len(FASTA) - 1), letter=st.characters(max_codepoint=255))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_changed_letter_is_read_or_refused(write: Write, at: int, letter: str) -> None:
    try:
        germline = opened(write(FASTA[:at] + letter + FASTA[at + 1 :]))
    except BadParams:
        return
    assert set("".join(parts(germline).values())) <= set("ACGTRYSWKMBDHVN")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd, pzstd])
def test_compressed_germlines_are_read(write: Write, pack: Callable[[bytes], bytes]) -> None:
    assert opened(write(pack(FASTA.encode()), "a.fa")).v == opened(write(FASTA, "b.fa")).v
