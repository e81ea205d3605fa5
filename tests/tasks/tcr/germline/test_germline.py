"""Germline of FASTA and tables: the parts, and what is made of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from helpers.command_line import CommandLine
from helpers.germline_files import BODY, FASTA, J, V, Write, imgt, note_on, opened, parts, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline import Germline, Part, open_germline
from gangsaw.tasks.tcr.germline.anchors import reverse_complement_iupac


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file, .gz if so named; return its path."""
    return partial(written, tmp_path)


# FASTA


def test_plain_fasta(write: Write) -> None:
    expected = {"TRBV1*01": "GCCAGCAGC", "TRBD1*01": "GGGACAGGGGGC"}
    germline = opened(write(FASTA))
    assert parts(germline) == expected | {"TRBJ1-1*01": J[:17]}
    assert germline == Germline(
        "genes.fasta",
        (Part("TRBV1*01", "GCCAGCAGC"),),
        (Part("TRBD1*01", "GGGACAGGGGGC"),),
        (Part("TRBJ1-1*01", J[:17]),),
    )


@given(
    width=st.integers(1, 90),
    lower=st.booleans(),
    uracil=st.booleans(),
    end=st.sampled_from(["\n", "\r\n", "\n\n"]),
    name=st.sampled_from(["a.fasta", "b.gz"]),
    blank=st.sampled_from(["", "\n", "\ufeff"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_fasta_as_it_is_written(
    write: Write, width: int, lower: bool, uracil: bool, end: str, name: str, blank: str
) -> None:
    """Line width, case, letters of RNA, ends of lines and gz change nothing."""
    lines = []
    for line in FASTA.splitlines():
        text = line.lower() if lower and line[0] != ">" else line
        text = text.replace("t", "u").replace("T", "U") if uracil and line[0] != ">" else text
        cut = [text[i : i + width] for i in range(0, len(text), width)]
        lines += cut if line[0] != ">" else [text]
    assert parts(opened(write(blank + end.join(lines), name))) == parts(opened(write(FASTA)))


def test_headers_of_imgt(write: Write) -> None:
    text = (
        imgt("TRBV1*01", "Homo sapiens", "V-REGION", V)
        + f">TRBV2*01|F\n{V}\n"  # of any species
        + imgt("TRBV1*01", "Homo sapiens", "L-PART1+V-EXON", "ATGGGC" + V)
        + imgt("TRBV1*01", "Mus musculus_C57BL/6", "V-REGION", V + "TT")
        + imgt("TRAV1*01", "Homo sapiens", "V-REGION", V)
        + imgt("TRBC1*01", "Homo sapiens", "EX1", "GAGGACCTG")
        + imgt("TRBD1*01", "Homo sapiens", "D-REGION", "GGGACAGGGGGC")
        + imgt("TRBJ1-1*01", "Homo sapiens", "J-REGION", J, "3")
    )
    germline = opened(write(text), species="human")
    assert list(parts(germline)) == ["TRBV1*01", "TRBV2*01", "TRBD1*01", "TRBJ1-1*01"]
    assert parts(germline)["TRBV1*01"] == "GCCAGCAGC"
    with pytest.raises(BadParams, match=r"has genes of Homo sapiens, Mus musculus_C57BL/6: name"):
        opened(write(text))
    with pytest.raises(BadParams, match=r"no TRB gene of rat, only of Homo sapiens, Mus"):
        opened(write(text), species="rat")
    with pytest.raises(BadParams, match="no D gene of TRB in it"):
        opened(write(text), species="Mus musculus")


def test_headers_that_name_no_gene(write: Write) -> None:
    """One note for all; constant genes and pseudogenes with odd names are not among them."""
    quiet = ">TRBC1*01\nGAG\n>X1|IGHM*01|Homo sapiens|F|CH1|1..2\nGAG\n>IGHV(II)-1-1*01\nGAG\n"
    strange = ">my gene\nACGT\n>NC_0001.1 contig\nACGT\n"
    germline = opened(write(FASTA + quiet + strange))
    assert parts(germline) == parts(opened(write(FASTA)))
    (note,) = germline.notes
    assert note.startswith("2 headers name no gene, the first in ")
    assert note.endswith("genes.fasta, line 13: 'my gene'")


def test_gapped_gene_has_its_cys_at_104(write: Write) -> None:
    """The column decides, though a better motif follows."""
    late = BODY + "GAATCCTGT" + "TATTACTGTGCC"
    gapped = late[:30] + "." * (309 - 66) + late[30:]
    text = FASTA.replace(V, gapped)
    assert parts(opened(write(text)))["TRBV1*01"] == "TATTACTGTGCC"
    assert parts(opened(write(FASTA.replace(V, late))))["TRBV1*01"] == "GCC"


def test_gapped_gene_without_cys_at_104(write: Write) -> None:
    """Numbering that is not IMGT's: the motif decides."""
    text = FASTA.replace(V, V[:30] + "..." + V[30:])
    assert parts(opened(write(text)))["TRBV1*01"] == "GCCAGCAGC"


def test_several_files(write: Write) -> None:
    records = FASTA.split(">")[1:]
    files = [write(">" + record, f"{i}.fa.gz") for i, record in enumerate(records)]
    germline = open_germline(files, locus="trb")
    assert parts(germline) == parts(opened(write(FASTA)))
    assert germline.source == "0.fa.gz, 1.fa.gz, 2.fa.gz"


def test_same_gene_twice(write: Write) -> None:
    assert parts(opened(write(FASTA + f">TRBV1*01\n{V}\n"))) == parts(opened(write(FASTA)))
    why = r"genes.fasta, line 7: TRBV1\*01 has another sequence than in .*genes.fasta, line 1"
    with pytest.raises(BadParams, match=why):
        opened(write(FASTA + f">TRBV1*01\n{V}A\n"))


def test_gene_on_the_other_strand(write: Write) -> None:
    germline = opened(
        write(FASTA.replace(V, reverse_complement_iupac(V)).replace(J, reverse_complement_iupac(J)))
    )
    assert parts(germline) == parts(opened(write(FASTA)))
    assert set(germline.notes) == {
        "TRBV1*01 was reverse-complemented",
        "TRBJ1-1*01 was reverse-complemented",
    }


def test_genes_of_two_loci(write: Write) -> None:
    text = (
        f">TRAV29/DV5*01\n{V}\n>TRAV1-1*01\n{V}AA\n>TRDV1*01\n{V}CC\n>TRAJ1*01\n{J}\n"
        f">TRDJ1*01\n{J}\n>TRDD1*01\nGAAATAGT\n"
    )
    alpha, delta = (opened(write(text), locus=locus) for locus in ("TRA", "TRD"))
    assert set(parts(alpha)) == {"TRAV29/DV5*01", "TRAV1-1*01", "TRAJ1*01"}
    assert set(parts(delta)) == {"TRAV29/DV5*01", "TRDV1*01", "TRDD1*01", "TRDJ1*01"}
    assert (alpha.locus, delta.locus) == ("TRA", "TRD")


def test_wildcards_are_kept(write: Write) -> None:
    assert parts(opened(write(FASTA.replace("GCCAGCAGC", "GCCRGCNGC"))))["TRBV1*01"] == "GCCRGCNGC"


def test_gene_without_anchor_is_left_out(write: Write) -> None:
    more = f">TRBV2*01\n{BODY}\n>TRBJ1-2*01\n{'CAG' * 15}\n"
    germline = opened(write(FASTA + more))
    assert parts(germline) == parts(opened(write(FASTA)))
    assert note_on(germline, "TRBV2*01") == "TRBV2*01 left out: no conserved Cys found"
    assert note_on(germline, "TRBJ1-2*01") == "TRBJ1-2*01 left out: no F/W-G-X-G motif found"


# tables


@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_table_of_parts(write: Write, delimiter: str) -> None:
    rows = [
        ("region", "Organism", "Allele", "status", "cdr3_part", "germline"),
        ("V", "human", "TRBV1*01", "ok", "gccagcagc", ""),
        ("V", "human", "TRBV2*01", "noCys:TAT", "GCCAGC", ""),
        ("V", "human", "TRBV3*01", "ok", "", ""),
        ("V", "mouse", "TRBV1*01", "ok", "GCC", ""),
        ("D", "human", "TRBD1*01", "", "GGGACAGGGGGC", ""),
        ("J", "human", "TRBJ1-1*01", "ok", '"CAAACACAGAAGTCTTC"', ""),
    ]
    text = "\n".join(delimiter.join(row) for row in rows)
    germline = opened(write(text, "parts.txt"), species="Homo sapiens")
    assert parts(germline) == parts(opened(write(FASTA)))
    assert germline.notes == (
        "TRBV2*01 left out: its status is noCys:TAT",
        "TRBV3*01 left out: nothing of it is in the CDR3",
    )


def test_table_of_whole_genes(write: Write) -> None:
    text = f"gene,anchor,sequence\nTRBV1*01,,{V}\nTRBD1*01,,GGGACAGGGGGC\nTRBJ1-1*01,17,{J}\n"
    assert parts(opened(write(text, "a.csv"))) == parts(opened(write(FASTA)))


def test_table_of_parts_that_were_not_cut(write: Write) -> None:
    text = f"gene,part\nTRBV1*01,{BODY * 2}\nTRBD1*01,GGG\nTRBJ1-1*01,CAA\n"
    with pytest.raises(BadParams, match=r"TRBV1\*01 left out: 120 nucleotides of a CDR3 are more"):
        opened(write(text, "a.csv"))


@given(order=st.permutations(["TRDD3*01", "TRDD1*01", "TRDD2*02", "TRDD2*01", "TRDD10*01"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_d_genes_are_in_the_order_of_the_genome(write: Write, order: list[str]) -> None:
    """Two D genes in a row can only be joined in it."""
    genes = "".join(f"{name},CCTTCCTAC\n" for name in order)
    text = f"gene,part\nTRDV1*01,GCTCTTGGG\n{genes}TRDJ1*01,ACACC\n"
    found = [part.name for part in opened(write(text, "a.csv"), locus="TRD").d]
    assert found == ["TRDD1*01", "TRDD2*01", "TRDD2*02", "TRDD3*01", "TRDD10*01"]


def test_row_without_a_gene(write: Write) -> None:
    with pytest.raises(BadParams, match=r"a.csv, line 3: 'V1' is no name of a gene"):
        opened(write("gene,part\nTRBV1*01,GCC\nV1,GCC\n", "a.csv"))


# what is made of it


def test_short_parts_are_left_out() -> None:
    j = (Part("TRBJ1-1*01", "CAAACACAGAAGTCTTC"),)
    v = (Part("TRBV1*01", "GCC"), Part("TRBV2*01", "GCCAGC"))
    germline = Germline("here", v, (Part("TRBD1*01", "GGGACAGGGGGC"),), j, ("a note",))
    assert germline.checked(3) == germline
    why = "TRBV1*01 left out: 3 nucleotides in the CDR3, fewer than max_p = 4"
    assert germline.checked(4) == Germline("here", v[1:], germline.d, j, ("a note", why))
    assert germline.checked(4).resolver("V").detail("TRBV1*01") == why
    with pytest.raises(BadParams, match="here: no V part has max_p = 8 nucleotides"):
        germline.checked(8)


# the command


def test_command_lists_the_parts(gangsaw: CommandLine, write: Write) -> None:
    path = write(FASTA + f">TRBV2*01\n{BODY}\n")
    found = gangsaw.ok("tcr", "germline", path, "--json").figures
    assert found["v"] == {"TRBV1*01": "GCCAGCAGC"}
    assert found["notes"] == ["TRBV2*01 left out: no conserved Cys found"]
    assert (found["source"], found["locus"]) == ("genes.fasta", "TRB")
    table = gangsaw.ok("tcr", "germline", path).out
    assert "GGGACAGGGGGC" in table
    assert table.endswith("TRBV2*01 left out: no conserved Cys found\n")


def test_command_with_wrong_input(gangsaw: CommandLine, write: Write, tmp_path: Path) -> None:
    assert "no such file" in gangsaw("tcr", "germline", tmp_path / "no.fa").failed(2)
    path = write(FASTA.replace("GGGACA", "GGGXCA"))
    assert "TRBD1*01: 'X' at position 4" in gangsaw("tcr", "germline", path).failed(2)
