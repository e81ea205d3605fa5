"""Germline of olga's models: the parts, the anchors, and what it has not."""

from __future__ import annotations

import csv
import pickle
import sys
from pathlib import Path

import pytest
from helpers import tcr_runs
from helpers.germline_files import FASTA, note_on, opened, parts, written

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline import Germline, open_germline

MODELS = [(locus, species) for locus in ("TRA", "TRB") for species in ("human", "mouse")]


@pytest.fixture(scope="module")
def olga() -> dict[tuple[str, str], Germline]:
    """The germline of olga's model of each locus and species."""
    pytest.importorskip("olga", reason="the extra tcr is not installed")
    return {(x, s): open_germline("olga", locus=x, species=s) for x, s in MODELS}


def test_repertoires_of_tests_are_skipped_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "olga", None)
    with pytest.raises(pytest.skip.Exception, match="the extra tcr is not installed"):
        tcr_runs.germline.__wrapped__()


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


def test_it_is_small_and_can_be_sent(olga: dict[tuple[str, str], Germline]) -> None:
    for germline in olga.values():
        sent = pickle.dumps(germline)
        assert pickle.loads(sent) == germline
        assert len(sent) < 40_000


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        (
            {"locus": "TRX"},
            "locus must be TRA, TRB, TRG, TRD, IGH, IGK or IGL, got 'TRX'",
        ),
        ({"locus": "TRG", "species": "human"}, "olga has no model of TRG, only of TRA, TRB"),
        ({"locus": "TRB"}, "pass --species human or mouse"),
        ({"locus": "TRB", "species": "rat"}, "germline must be human or mouse, got 'rat'"),
    ],
)
def test_wrong_choice(choices: dict[str, str], why: str) -> None:
    with pytest.raises(BadParams, match=why):
        opened("olga", **choices)


def test_olga_beside_files(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="olga is a whole germline: give it alone"):
        open_germline(["olga", written(tmp_path, FASTA)], locus="TRB")


def test_without_olga(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "olga", None)  # as if it were not installed
    with pytest.raises(BadParams, match=r'olga is not installed: pip install "gangsaw\[tcr\]"'):
        opened("olga", species="human")
