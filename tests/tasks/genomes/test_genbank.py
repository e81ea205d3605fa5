"""GenBank in: names, definitions and sequences, or one clear line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from helpers.genomes import genome_in_memory, text_of_genome

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sequences.files import text


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


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (">a\nAC\n", r"line 1: it does not begin with LOCUS \(it is FASTA"),
        ("", "holds no records"),
        (TWO[:-4], "is cut off"),
        (TWO[:300], "cut off"),
        (TWO + record("X1", "ac"), "a second record is named X1.2"),
        (TWO.replace(" 2 bp", " 3 bp"), "LOCUS says 3 bp, and the sequence has 2"),
        (TWO.replace("1 ga", "1 g?"), "something other than letters"),
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
