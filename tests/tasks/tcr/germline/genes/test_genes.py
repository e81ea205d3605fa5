"""Whole genes: their parts, codons and frames are the gene, whatever the source gives."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from helpers.germline_files import FASTA, J, V, Write, written

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.anchors import reverse_complement_iupac
from gangsaw.tasks.tcr.germline.genes.genes import Gene, WholeGenes, open_genes


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return partial(written, tmp_path)


def of(path: Path) -> WholeGenes:
    return open_genes(str(path), locus="TRB")


def test_of_fasta(write: Write) -> None:
    genes = of(write(FASTA))
    assert genes.v == (Gene("TRBV1*01", V[-9:], "TGT", V[:-12]),)
    assert genes.d == (Gene("TRBD1*01", "GGGACAGGGGGC"),)
    (j,) = genes.j
    assert j.part + j.codon + j.frame == J
    assert j.codon in ("TTT", "TTC")
    assert genes.has_frames


def test_of_the_other_strand(write: Write) -> None:
    assert (
        of(write(FASTA.replace(J, reverse_complement_iupac(J)))).j == of(write(FASTA, "b.fasta")).j
    )


@pytest.mark.parametrize("whole", [True, False])
def test_of_tables_of_parts(write: Write, whole: bool) -> None:
    wanted = of(write(FASTA))
    genes = [
        (g.name, g.part, w)
        for g, w in zip((*wanted.v, *wanted.d, *wanted.j), (V, "GGGACAGGGGGC", J), strict=True)
    ]
    rows = [[name, part, *([w] if whole else [])] for name, part, w in genes]
    head = ["gene", "part", *(["germline"] if whole else [])]
    text = "\n".join("\t".join(row) for row in [head, *rows]) + "\n"
    found = of(write(text, "t.tsv"))
    if whole:
        assert found[2:5] == wanted[2:5]
    else:
        assert [g.part for g in found.v + found.j] == [g.part for g in wanted.v + wanted.j]
        assert (found.v[0].codon, found.j[0].codon, found.has_frames) == ("TGT", "TTT", False)


def test_genes_with_wildcards_are_left_out(write: Write) -> None:
    found = of(write(FASTA + f">TRBV2*01\n{V[:10]}N{V[11:]}\n"))
    assert [gene.name for gene in found.v] == ["TRBV1*01"]
    assert "TRBV2*01 left out: it has ambiguous bases" in found.notes
    with pytest.raises(BadParams, match="each V gene has ambiguous bases"):
        of(write(FASTA.replace("GAAGAA", "GANGAA"), "n.fasta"))


def test_short_genes_are_left_out(write: Write) -> None:
    genes = of(write(FASTA))
    assert genes.long(9) == genes
    with pytest.raises(BadParams, match="no V has 10 bases in a CDR3"):
        genes.long(10)
