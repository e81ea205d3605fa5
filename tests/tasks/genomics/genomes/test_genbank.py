"""GenBank in: names, definitions and sequences, or one clear line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from helpers.genomes import genome_in_memory, text_of_genome

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text import text


def record(name: str, letters: str, more: str = "") -> str:
    """A record as the archive writes it."""
    lines = [
        f"LOCUS       {name:<16} {len(letters)} bp    DNA     circular PLN 26-JUL-2016",
        f"DEFINITION  Thing {name},",
        "            complete genome.",
        f"ACCESSION   {name}",
        f"VERSION     {name}.2  GI:1",
    ]
    lines += [more] if more else []
    lines.append("ORIGIN      ")
    for at in range(0, len(letters), 60):
        tens = [letters[i : i + 10] for i in range(at, min(at + 60, len(letters)), 10)]
        lines.append(f"{at + 1:>9} {' '.join(tens)}")
    return "\n".join([*lines, "//", ""])


FEATURES = "FEATURES             Location/Qualifiers\n     gene            1..9"
TWO = record("X1", "acgtnr" * 25, FEATURES) + "\n" + record("X2", "ga")
FASTA = f">X1.2 Thing X1, complete genome\n{'ACGTNR' * 10}\n{'ACGTNR' * 10}\n{'ACGTNR' * 5}\n"
FASTA += ">X2.2 Thing X2, complete genome\nGA\n"


@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_records_come_as_fasta(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: str
) -> None:
    monkeypatch.setattr(text, "BLOCK", block)
    stored = genome_in_memory(tmp_path / "a.gb", TWO.replace("\n", end).encode(), "genbank")
    assert text_of_genome(stored).decode() == FASTA


def test_it_is_known_and_says_what_is_lost(tmp_path: Path, gangsaw: CommandLine) -> None:
    path, store = tmp_path / "a.gb.gz", tmp_path / "a.zarr"
    path.write_bytes(gzip.compress(TWO.encode()))
    assert "features, references and comments" in gangsaw.ok("compress", path, store).out
    gangsaw.ok("decompress", store, tmp_path / "a.fa")
    assert (tmp_path / "a.fa").read_text() == FASTA


HEAD = """GBPLN1.SEQ          Genetic Sequence Data Bank
                          August 15 2024

                NCBI-GenBank Flat File Release 262.0

                     Plant Sequences (Part 1)

       2 loci,      152 bases, from        2 reported sequences


"""
CONTIG = "LOCUS       X3 9 bp\nVERSION     X3.1\nCONTIG      join(B.1:1..9)\n//\n"
WGS = "LOCUS       X4 9 rc\nVERSION     X4.1\nWGS         X4_1-X4_9\n//\n"


@pytest.mark.parametrize("name", ["gbpln1.seq", "a.gbff.gz", "a.txt.gz"])
def test_heads_of_releases_and_records_elsewhere_are_named(
    tmp_path: Path, gangsaw: CommandLine, name: str
) -> None:
    path, store, text = tmp_path / name, tmp_path / "a.zarr", HEAD + CONTIG + TWO + WGS
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    said = " ".join(gangsaw.ok("compress", path, store).out.split())
    assert "the head of a release's file" in said
    assert "2 records that have CONTIG or WGS instead of a sequence (X3.1, X4.1)" in said
    gangsaw.ok("decompress", store, tmp_path / "a.fa")
    assert (tmp_path / "a.fa").read_text() == FASTA


PROTEIN = "mkvlaagiwrtyhipsdfghklcvnmpq"


@pytest.mark.parametrize("unit", ["aa", "bp"])
def test_protein_is_refused_unless_it_is_meant(
    tmp_path: Path, gangsaw: CommandLine, unit: str
) -> None:
    path, store = tmp_path / "p.gp", tmp_path / "a.zarr"
    path.write_text(record("P1", PROTEIN).replace(" bp ", f" {unit} "))
    said = gangsaw("compress", path, store).failed(2)
    assert "holds protein" in said
    assert "--format genbank --codec zstd" in said
    gangsaw.ok("compress", path, store, "--format", "genbank", "--codec", "zstd")
    gangsaw.ok("decompress", store, tmp_path / "a.fa")
    assert PROTEIN.upper() in (tmp_path / "a.fa").read_text()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (">a\nAC\n", r"line 1: it does not begin with LOCUS and a blank \(it is FASTA"),
        ("", "holds no records"),
        (TWO.replace("\n", "\r"), "line 1 ends with CR alone"),
        (HEAD, "holds no records"),
        (HEAD.replace("\n", "\nx", 3) * 200, "does not begin with LOCUS"),
        (TWO[:-4], "is cut off"),
        (TWO[:300], "cut off"),
        (TWO + record("X1", "ac"), "a second record is named X1.2"),
        (TWO.replace(" 2 bp", " 3 bp"), "LOCUS says 3 bp, and the sequence has 2"),
        (TWO.replace("1 ga", "1 g?"), "other characters than residues"),
        (
            "LOCUS       A 9 bp\nCONTIG      join(B.1:1..9)\n//\n",
            "line 3: its record has CONTIG instead of a sequence",
        ),
        ("LOCUS       A 9 bp\n//\n", "its record has no sequence"),
    ],
)
def test_what_is_no_genbank_is_named(tmp_path: Path, content: str, problem: str) -> None:
    with pytest.raises(BadParams, match=problem):
        genome_in_memory(tmp_path / "a.gb", content.encode(), "genbank")
