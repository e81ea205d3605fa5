"""Germline of FASTA, tables and olga's models: the parts, the anchors, and wrong input."""

from __future__ import annotations

import csv
import gzip
import pickle
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline import Germline, Part, open_germline
from gangsaw.tasks.tcr.germline.anchors import find_anchor, other_strand

MODELS = [(locus, species) for locus in ("TRA", "TRB") for species in ("human", "mouse")]
BODY = "GAA" * 20  # of a V gene before its motif, open in frame 0
V = BODY + "TATTTCTGT" + "GCCAGCAGC"
J = "CAAACACAGAAGTC" + "TTCTTTGGAGAAGGCACCAGACTC" + "A"
FASTA = f">TRBV1*01\n{V}\n>TRBD1*01\nGGGACAGGGGGC\n>TRBJ1-1*01\n{J}\n"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file, .gz if so named; return its path."""

    def to_file(text: str | bytes, name: str = "genes.fasta") -> Path:
        raw = text if isinstance(text, bytes) else text.encode()
        (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return tmp_path / name

    return to_file


def opened(path: str | Path, **choices: str) -> Germline:
    return open_germline(path, **{"locus": "TRB", **choices})  # type: ignore[arg-type]


def parts(germline: Germline) -> dict[str, str]:
    return {part.name: part.sequence for part in germline.v + germline.d + germline.j}


def note_on(germline: Germline, name: str) -> str:
    (note,) = (note for note in germline.notes if note.startswith(f"{name} "))
    return note


@pytest.fixture(scope="module")
def olga() -> dict[tuple[str, str], Germline]:
    """The germline of olga's model of each locus and species."""
    pytest.importorskip("olga", reason="the extra tcr is not installed")
    return {(x, s): open_germline("olga", locus=x, species=s) for x, s in MODELS}


# olga's models


def test_facts_of_the_literature(olga: dict[tuple[str, str], Germline]) -> None:
    mouse, human = parts(olga["TRB", "mouse"]), parts(olga["TRB", "human"])
    assert mouse["TRBV1*01"] == "ACCTGCAGTGCAGA"
    assert mouse["TRBJ1-1*01"] == "CAAACACAGAAGTCTTC"
    assert mouse["TRBD1*01"] == human["TRBD1*01"] == "GGGACAGGGGGC"
    assert mouse["TRBD2*01"] == "GGGACTGGGGGGGC"
    assert human["TRBD2*01"] == "GGGACTAGCGGGGGGG"
    assert human["TRBD2*02"] == "GGGACTAGCGGGAGGG"
    assert human["TRBV6-2*01"] == human["TRBV6-3*01"] == "GCCAGCAGTTACTC"
    assert parts(olga["TRA", "human"])["TRAV29/DV5*01"] == "GCAGCAAGCG"


def test_sizes_of_the_models(olga: dict[tuple[str, str], Germline]) -> None:
    """Every gene of a model is a part, or left out with a note."""
    genes = {("TRA", "human"): 171, ("TRB", "human"): 107}
    genes |= {("TRA", "mouse"): 158, ("TRB", "mouse"): 51}
    for model, n in genes.items():
        left_out = [note for note in olga[model].notes if " left out: " in note]
        assert len(parts(olga[model])) + len(left_out) == n
        assert olga[model].locus == model[0]
        assert not olga[model].d or model[0] == "TRB"


def test_reversed_gene_of_olga(olga: dict[tuple[str, str], Germline]) -> None:
    mouse = olga["TRB", "mouse"]
    assert [note for note in mouse.notes if "revers" in note] == [
        "TRBV31*01 was reverse-complemented"
    ]
    assert parts(mouse)["TRBV31*01"] == "GCCTGGAGTCT"
    others = (germline for model, germline in olga.items() if model != ("TRB", "mouse"))
    assert not any("revers" in note for germline in others for note in germline.notes)


def test_gene_of_olga_with_a_shifted_anchor(olga: dict[tuple[str, str], Germline]) -> None:
    human = olga["TRB", "human"]
    why = "TRBV4-3*02 was cut at nucleotide 271: CTC at its anchor, 268, is no Cys"
    assert note_on(human, "TRBV4-3*02") == why
    assert parts(human)["TRBV4-3*02"] == parts(human)["TRBV4-3*01"]


def test_genes_that_end_before_their_anchor(olga: dict[tuple[str, str], Germline]) -> None:
    human = olga["TRA", "human"]
    why = "TRAV30*04 left out: it ends before its anchor, nucleotide 262"
    assert note_on(human, "TRAV30*04") == why
    assert human.resolver("V").detail("TRAV30*04") == why


def test_anchors_are_found_where_olga_has_them(
    olga: dict[tuple[str, str], Germline], tmp_path: Path
) -> None:
    """Of 470 genes, a search misses pseudogenes and the like, and errs once, with a warning."""
    missed, wrong = [], []
    for (locus, species), germline in olga.items():
        known = parts(germline)
        searched = open_germline(as_fasta(locus, species, tmp_path), locus=locus)
        found = parts(searched)
        assert found.keys() <= known.keys()
        missed += known.keys() - found.keys()
        wrong += [name for name in found if found[name] != known[name]]
    assert len(missed) <= 21
    assert wrong == ["TRAJ7*01"]  # of the mouse, L-G-K-G
    doubt = "TRAJ7*01 has its F/W-G-X-G motif in an unusual frame"
    mouse = open_germline(as_fasta("TRA", "mouse", tmp_path), locus="TRA")
    assert note_on(mouse, "TRAJ7*01").startswith(doubt)


def as_fasta(locus: str, species: str, folder: Path) -> Path:
    """Write all genes of a model of olga as a FASTA, which has no anchors."""
    from gangsaw.tasks.tcr.germline.olga import read_olga

    records = read_olga(locus, species)[1]
    path = folder / f"{locus}.fasta"
    path.write_text("".join(f">{r.name}\n{r.sequence}\n" for r in records))
    return path


@pytest.mark.parametrize("locus", ["IGH", "IGK", "IGL"])
def test_models_of_antibodies(locus: str) -> None:
    pytest.importorskip("olga", reason="the extra tcr is not installed")
    germline = open_germline("olga", locus=locus, species="human")
    assert (len(germline.d) > 0) == (locus == "IGH")
    assert len(parts(germline)) >= 71


def test_agrees_with_the_parts_of_another_source(
    olga: dict[tuple[str, str], Germline], shared: Path
) -> None:
    """The table says of its parts which are those of olga; so must ours, cut by our own reader."""
    path = shared / "data" / "tcr" / "germline" / "germline_cdr3_parts.tsv"
    mended = {"TRBV31*01": "same", "TRBV4-3*02": "prefix"}  # they differ in olga as it stands
    with path.open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    verdicts = {(r["organism"], r["allele"]): r["olga_agrees"] for r in rows} | {
        (species, name): verdict
        for species in ("human", "mouse")
        for name, verdict in mended.items()
    }
    compared = []
    for locus, species in MODELS:
        theirs = parts(open_germline(path, locus=locus, species=species))
        ours = parts(olga[locus, species])
        for name in theirs.keys() & ours.keys():
            compared.append(verdict(theirs[name], ours[name]))
            assert compared[-1] == verdicts[species, name], name
    assert compared.count("same") >= 370


def verdict(one: str, other: str) -> str:
    if one == other:
        return "same"
    return "prefix" if one.startswith(other) or other.startswith(one) else "DIFF"


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


def imgt(name: str, species: str, region: str, sequence: str, frame: str = "1") -> str:
    fields = ["X0001", name, species, "F", region, "1..9", "9 nt", frame, "", "", "", "", ""]
    return f">{'|'.join(fields)} |\n{sequence}\n"


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
    with pytest.raises(BadParams, match=r"has genes of Homo sapiens, Mus musculus_C57BL/6: say"):
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
    germline = opened(write(FASTA.replace(V, other_strand(V)).replace(J, other_strand(J))))
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


# anchors


@pytest.mark.parametrize(
    ("region", "sequence", "at"),
    [
        ("V", BODY + "TATTTCTGTGCC", 66),
        ("V", BODY + "TTGTACTGCACCTGCAGTGCAGA", 66),  # L-Y-C-T-C, as in TRBV1 of the mouse
        ("V", BODY + "TATTACTGCTGCTCATATGCA", 66),  # Y-Y-C-C, as in lambda chains
        ("V", BODY + "TAATATTTCTGTGCC", 69),  # a stop codon, but the whole motif
        ("V", BODY + "TAAGAATTCTGTACC", None),  # a stop codon, and half of it
        ("V", BODY + "TATTTCTGTGCC" + "GCC" * 20, None),  # far from the end
        ("V", BODY + "GAAGAATGTGCC", None),
        ("J", "CAAACACAGTCTTCTTTGGAGAAGGCACCAGACTCA", 14),
        ("J", "CAAACACAGTCTTCTGGGGAGAAGGCACCAGACTCA", 14),
        ("J", "GGTTCAAGATATTTGCTGAAGGGACTAAGCTCA", 11),  # F-A-E-G, as in TRGJ
        ("J", "GGTTCAAGATATTTGATGAAGGGACTAAGCTCA", None),
    ],
)
def test_anchor(region: str, sequence: str, at: int | None) -> None:
    found = find_anchor(region, sequence)
    assert (found.at if found else None) == at


def test_motif_in_the_usual_frame_comes_first() -> None:
    two = "CAATTTGGGGAAGGGCTTTCGGGACCGGGACCC" + "A"
    found = find_anchor("J", two)
    assert found is not None
    assert (len(two) - found.at) % 3 == 1
    assert not found.doubt


def test_motif_in_an_unusual_frame_is_doubted(write: Write) -> None:
    germline = opened(write(FASTA.replace(J, J[:-1])))
    assert parts(germline)["TRBJ1-1*01"] == J[:17]
    assert "unusual frame: check where its CDR3 ends" in note_on(germline, "TRBJ1-1*01")


def test_frame_of_the_header_is_kept(write: Write) -> None:
    """TRAJ7*01 of the mouse is L-G-K-G, and F-G-E-G only if read out of frame."""
    leu = "CAACAGACTTAC" + "TTTGGGGAAGGGAACCCAGGTGGTGG"
    text = FASTA + imgt("TRBJ1-2*01", "any", "J-REGION", leu, frame="2")
    assert note_on(opened(write(text)), "TRBJ1-2*01").endswith(
        "motif found, in the frame of its header"
    )


@given(
    part=st.text("ACGT", min_size=4, max_size=30).filter(lambda part: "TG" not in part),
    codons=st.lists(st.sampled_from(["GAA", "CCA", "GGT", "ACC"]), max_size=40),
    shift=st.integers(0, 2),
)
def test_cys_is_found_in_any_frame(part: str, codons: list[str], shift: int) -> None:
    before = "C" * shift + "".join(codons) + "TATTAC"
    found = find_anchor("V", before + "TGT" + part)
    assert found is not None
    assert found.at == len(before)


@given(sequence=st.text("ACGTN", max_size=120), region=st.sampled_from("VJ"))
def test_any_sequence_has_an_anchor_within_it_or_none(sequence: str, region: str) -> None:
    found = find_anchor(region, sequence)
    if found is not None:
        codon = sequence[found.at : found.at + 3]
        assert codon in ({"TGT", "TGC"} if region == "V" else {"TTT", "TTC", "TGG"})


@given(sequence=st.text("ACGTRYSWKMBDHVN", max_size=60))
def test_other_strand_of_the_other_strand(sequence: str) -> None:
    assert other_strand(other_strand(sequence)) == sequence


def test_given_anchors(write: Write) -> None:
    odd = f">TRBV2*01\n{BODY}AGATGGGCC\n>TRBV3*01\n{V}\n"
    anchors = write("gene,anchor_index\nTRBV2*01,63\nTRBV3,69\nTRBV9*01,3\n", "anchors.csv")
    germline = opened(write(FASTA + odd), anchors=str(anchors))
    assert parts(germline)["TRBV2*01"] == "GCC"
    assert note_on(germline, "TRBV2*01") == "TRBV2*01 has TGG at its anchor, no Cys"
    assert parts(germline)["TRBV3*01"] == "GCCAGCAGC"  # 69 is a slip
    assert "at its anchor, 70, is no Cys" in note_on(germline, "TRBV3*01")
    assert parts(germline)["TRBV1*01"] == "GCCAGCAGC"  # not in the table: found


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("gene,index\nTRBV1*01,66\n", "names no column anchor_index or anchor_nt0 or"),
        ("gene,anchor_index\nTRBV1*01,-3\n", r"line 2: an anchor counts .* from 0, got '-3'"),
        ("gene,anchor_index\nTRBV1*01,six\n", "line 2: an anchor counts .* from 0, got 'six'"),
        (f"gene,anchor_index\nTRBV1*01,{'9' * 5000}\n", "line 2: an anchor counts"),
        ("gene,anchor_index\nTRBV1*01\n", "line 2: 1 cells, fewer than the header"),
        ("gene,anchor_index\nTRBV1*01,66\nTRBV1*01,67\n", r"line 3: TRBV1\*01 has another anchor"),
        ("gene,anchor_index\nTRBV7*01,66\n", "none of its genes is in the germline"),
        ("gene,anchor_index\nTRBV1*01,999999999\n", r"none of 1 V genes can be used: TRBV1\*01"),
    ],
)
def test_wrong_anchors(write: Write, table: str, why: str) -> None:
    with pytest.raises(BadParams, match=why):
        opened(write(FASTA), anchors=str(write(table, "anchors.csv")))


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
        "TRBV3*01 left out: nothing of it lies in the CDR3",
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


# what is wrong with files


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
        (b"\x1f\x8b\x08", "a.fasta", "a.fasta is cut off: its gz has no end"),
        (
            gzip.compress(FASTA.encode(), mtime=0)[:-20],
            "a.fa",
            "a.fa is cut off: its gz has no end",
        ),
        (gzip.compress(FASTA.encode(), mtime=0)[:-8] + b"x" * 8, "a.fa", "its gz is damaged"),
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


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ({"locus": "TRX"}, "locus must be one of TRA, TRB, TRG, TRD, IGH, IGK, IGL, got 'TRX'"),
        ({"locus": "TRG", "species": "human"}, "olga has no model of TRG, only of TRA, TRB"),
        ({"locus": "TRB"}, "species must be human or mouse for olga's germline, got None"),
        ({"locus": "TRB", "species": "rat"}, "species must be human or mouse .* got rat"),
    ],
)
def test_wrong_choice(choices: dict[str, str], why: str) -> None:
    with pytest.raises(BadParams, match=why):
        opened("olga", **choices)


def test_olga_beside_files(write: Write) -> None:
    with pytest.raises(BadParams, match="olga is a whole germline: give it alone"):
        open_germline(["olga", write(FASTA)], locus="TRB")


def test_without_olga(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "olga", None)  # as if it were not installed
    with pytest.raises(BadParams, match=r'olga is not installed: pip install "gangsaw\[tcr\]"'):
        opened("olga", species="human")


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


def test_it_is_small_and_can_be_sent(olga: dict[tuple[str, str], Germline]) -> None:
    for germline in olga.values():
        sent = pickle.dumps(germline)
        assert pickle.loads(sent) == germline
        assert len(sent) < 40_000


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
