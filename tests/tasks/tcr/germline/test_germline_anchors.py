"""Where the CDR3 begins and ends in a gene: motifs, frames, and anchors of a table."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from helpers.germline_files import BODY, FASTA, J, V, Write, imgt, note_on, opened, parts, written
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.anchors import find_anchor, reverse_complement_iupac


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file, .gz if so named; return its path."""
    return partial(written, tmp_path)


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
    assert reverse_complement_iupac(reverse_complement_iupac(sequence)) == sequence


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
