"""Which rows are kept, and why the others are not."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline import Part, Resolver, open_germline
from gangsaw.tasks.tcr.model import MAX_LENGTH
from gangsaw.tasks.tcr.repertoire import ROWS, open_repertoire, reasons
from gangsaw.tasks.tcr.repertoire.cleaning.clean import DROPPED_SCHEMA, VALID_SCHEMA, Limits, clean
from gangsaw.tasks.tcr.repertoire.cleaning.row_counts import RowCounts, row_counts, sum_row_counts
from gangsaw.tasks.tcr.repertoire.tables.kernels import CYS, PHE_TRP

V = Resolver([Part("TRBV1*01", "ACCTGC"), Part("TRBV2*01", "GCTAGC"), Part("TRBV6-2*01", "GCC")])
J = Resolver([Part("TRBJ1-1*01", "AACACC"), Part("TRBJ2-7*01", "TACGAG")])
GOOD = {
    "line": 2,
    "id": "a",
    "sample": "m",
    "cdr3": "GCCAGCAGC",
    "v_call": "TRBV2*01",
    "d_call": "",
    "j_call": "TRBJ2-7",
    "copies": 3,
    "anchors": CYS | PHE_TRP,
    "productive": None,
    "reason": "",
    "detail": "",
}


def batch(*rows: dict[str, Any]) -> Any:
    return pa.RecordBatch.from_pylist([GOOD | row for row in rows], ROWS)


def cleaned(*rows: dict[str, Any], **limits: Any) -> tuple[list[Any], list[Any]]:
    kept, dropped = clean(batch(*rows), V, J, Limits(**limits))
    assert (kept.schema, dropped.schema) == (VALID_SCHEMA, DROPPED_SCHEMA)
    kept.validate(full=True)
    dropped.validate(full=True)
    return kept.to_pylist(), dropped.to_pylist()


def test_a_good_row_is_kept() -> None:
    kept, dropped = cleaned({})
    assert dropped == []
    want = {"line": 2, "id": "a", "sample": "m", "cdr3": "GCCAGCAGC", "v": 1, "j": 1, "copies": 3}
    assert kept == [want]


WRONG = [
    ({"reason": "ragged line", "detail": "2 fields, not 7"}, "ragged line", "2 fields, not 7"),
    ({"reason": "not UTF-8", "detail": "v_call"}, "not UTF-8", "v_call"),
    ({"v_call": "TRAV1-1"}, "other locus", "TRAV1-1 is not of TRB"),
    ({"j_call": "TRAJ1"}, "other locus", "TRAJ1 is not of TRB"),
    ({"reason": "not a number of copies", "detail": "x"}, "not a number of copies", "x"),
    ({"cdr3": ""}, "no CDR3", ""),
    ({"cdr3": "", "reason": "too short", "detail": "TGT"}, "too short", "TGT"),
    ({"cdr3": "GCCX"}, "not nucleotides", "X at 4"),
    ({"cdr3": "*"}, "not nucleotides", "* at 1"),
    ({"cdr3": "GCC" * 86}, "too long", "258 nucleotides"),
    ({"cdr3": "GCCA"}, "out of frame", "4 nucleotides"),
    ({"cdr3": "GCCTGAGCCTAA"}, "stop codon", "TGA at 4"),
    ({"anchors": PHE_TRP}, "no anchors", "does not begin with Cys"),
    ({"productive": False}, "not productive", ""),
    ({"v_call": ""}, "no V", ""),
    ({"v_call": "TRBV99"}, "unknown V", "TRBV99"),
    ({"v_call": "TRBV1,TRBV2"}, "ambiguous V", "can be TRBV1*01, TRBV2*01"),
    ({"j_call": ""}, "no J", ""),
    ({"j_call": "TRBJ9"}, "unknown J", "TRBJ9"),
    ({"j_call": "TRBJ1-1,TRBJ2-7"}, "ambiguous J", "can be TRBJ1-1*01, TRBJ2-7*01"),
]


@pytest.mark.parametrize(("wrong", "reason", "detail"), WRONG)
def test_a_wrong_row_is_dropped_with_its_reason(
    wrong: dict[str, Any], reason: str, detail: str
) -> None:
    kept, dropped = cleaned({}, wrong | {"line": 7, "id": "b"}, {"line": 8})
    assert [row["line"] for row in kept] == [2, 8]
    (row,) = dropped
    assert (row["line"], row["id"], row["sample"], row["reason"]) == (7, "b", "m", reason)
    assert detail in row["detail"]


def test_each_reason_of_the_vocabulary_is_given() -> None:
    later = {reasons.UNCOUNTABLE}  # known when it is counted: test_tcr_job has it
    assert {reason for _, reason, _ in WRONG} == set(reasons.ORDER) - later


@pytest.mark.parametrize(("wrong", "reason", "_"), WRONG)
def test_of_two_reasons_the_first_in_order_is_given(
    wrong: dict[str, Any], reason: str, _: str
) -> None:
    others = [other for other in WRONG if not set(other[0]) & set(wrong)]
    for other, another, _ in others:
        (row,) = cleaned(wrong | other)[1]
        assert row["reason"] == min(reason, another, key=reasons.ORDER.index)
    assert others


@pytest.mark.parametrize(
    ("codon", "stops"),
    [
        ("TAA", True),
        ("TAG", True),
        ("TGA", True),
        ("TAR", True),
        ("TRA", True),
        ("TGG", False),
        ("TRG", False),
        ("TRR", False),
        ("TAN", False),
        ("NNN", False),
        ("YAA", False),
        ("TAC", False),
    ],
)
def test_a_stop_codon_is_one_only_where_it_is_certain(codon: str, stops: bool) -> None:
    letters = {"N": "ACGT", "R": "AG", "Y": "CT"}
    readings = {"".join(read) for read in product(*(letters.get(one, one) for one in codon))}
    assert stops == (readings <= {"TAA", "TAG", "TGA"})
    assert [row["reason"] for row in cleaned({"cdr3": f"GCC{codon}"})[1]] == ["stop codon"] * stops
    assert cleaned({"cdr3": f"G{codon}CC"})[1] == []  # in another frame


def test_rows_out_of_frame_are_kept_on_demand() -> None:
    rows = [
        {"cdr3": "GCCA", "productive": False},
        {"cdr3": "GCCTAAG"},
        {"cdr3": "TAA"},
        {"productive": False},
    ]
    kept, dropped = cleaned(*rows, keep_out_of_frame=True)
    assert [row["cdr3"] for row in kept] == ["GCCA", "GCCTAAG"]
    assert [row["reason"] for row in dropped] == ["stop codon", "not productive"]


def test_unproductive_rows_are_kept_on_demand() -> None:
    kept, dropped = cleaned(
        {"cdr3": "TAA"}, {"productive": False}, {"cdr3": "GCCA"}, keep_unproductive=True
    )
    assert [row["cdr3"] for row in kept] == ["TAA", GOOD["cdr3"]]
    assert [row["reason"] for row in dropped] == ["out of frame"]


@pytest.mark.parametrize(
    ("anchors", "kept"), [("any", [0, 1, 2, 3]), ("cys", [1, 3]), ("both", [3])]
)
def test_anchors_are_asked_for_as_far_as_the_user_wants(anchors: str, kept: list[int]) -> None:
    rows = [{"line": there, "anchors": there} for there in (0, CYS, PHE_TRP, CYS | PHE_TRP)]
    assert [row["line"] for row in cleaned(*rows, anchors=anchors)[0]] == kept


def test_limits_are_checked() -> None:
    assert cleaned({"cdr3": "GCC" * 4}, longest=11)[1][0]["reason"] == "too long"
    for wrong in ({"longest": 0}, {"longest": MAX_LENGTH + 1}, {"anchors": "trp"}):
        with pytest.raises(BadParams, match=next(iter(wrong))):
            Limits(**wrong)  # type: ignore[arg-type]


ROW = st.fixed_dictionaries(
    {
        "cdr3": st.text("ACGTNRX", max_size=16),
        "v_call": st.sampled_from(["TRBV1*01", "TRBV2", "", "TRBV9", "TRBV1,TRBV2", "TRAV1"]),
        "j_call": st.sampled_from(["TRBJ1-1*01", "TRBJ2-7", "", "TRBJ9", "TRAJ1"]),
        "anchors": st.integers(0, 3),
        "productive": st.sampled_from([True, False, None]),
        "sample": st.sampled_from(["m", "n"]),
    }
)
LIMITS = st.builds(
    Limits,
    longest=st.integers(1, 15),
    keep_out_of_frame=st.booleans(),
    keep_unproductive=st.booleans(),
    anchors=st.sampled_from(["cys", "both", "any"]),
)


def slow_reason(row: dict[str, Any], limits: Limits) -> str:
    """The first reason that holds, one after the other."""
    cdr3, stops = row["cdr3"], ("TAA", "TAG", "TGA", "TAR", "TRA")
    framed = len(cdr3) % 3 == 0
    need = {"any": 0, "cys": CYS, "both": CYS | PHE_TRP}[limits.anchors]
    holds = {
        "other locus": row["v_call"].startswith("TRA") or row["j_call"].startswith("TRA"),
        "no CDR3": not cdr3,
        "not nucleotides": "X" in cdr3,
        "too long": len(cdr3) > limits.longest,
        "out of frame": not framed and not limits.keep_out_of_frame,
        "stop codon": framed
        and not limits.keep_unproductive
        and any(codon in stops for codon in re.findall("...", cdr3)),
        "no anchors": row["anchors"] & need != need,
        "not productive": row["productive"] is False
        and not limits.keep_unproductive
        and (framed or not limits.keep_out_of_frame),
        "no V": not row["v_call"],
        "unknown V": row["v_call"] == "TRBV9",
        "ambiguous V": "," in row["v_call"],
        "no J": not row["j_call"],
        "unknown J": row["j_call"] == "TRBJ9",
    }
    return next((reason for reason in reasons.ORDER if holds.get(reason)), "")


@given(st.lists(ROW, max_size=30), LIMITS, st.integers(0, 30))
def test_rows_are_dropped_as_the_slow_reference_says(
    rows: list[dict[str, Any]], limits: Limits, cut: int
) -> None:
    numbered = [GOOD | row | {"line": line} for line, row in enumerate(rows)]
    whole = pa.RecordBatch.from_pylist(numbered, ROWS)
    kept, dropped = clean(whole, V, J, limits)
    why = [slow_reason(row, limits) for row in numbered]
    assert kept["line"].to_pylist() == [line for line, reason in enumerate(why) if not reason]
    assert dropped["line"].to_pylist() == [line for line, reason in enumerate(why) if reason]
    assert dropped["reason"].to_pylist() == [reason for reason in why if reason]
    # in two slices of the batch the same, and the tallies add up
    parts = [clean(part, V, J, limits) for part in (whole.slice(0, cut), whole.slice(cut))]
    assert pa.Table.from_batches([part[0] for part in parts]) == pa.Table.from_batches([kept])
    assert pa.Table.from_batches([part[1] for part in parts]) == pa.Table.from_batches([dropped])
    total = sum_row_counts(row_counts(*part) for part in parts)
    assert total.rows == row_counts(kept, dropped).rows
    pairs = [(row["sample"], reason) for row, reason in zip(numbered, why, strict=True)]
    assert total.rows == {pair: pairs.count(pair) for pair in pairs}


def test_a_tally_lists_samples_as_they_came_and_reasons_in_their_order() -> None:
    rows = [{"sample": "b"}, {"sample": "a", "j_call": ""}, {"sample": "b", "cdr3": ""}, {}]
    counted = row_counts(*clean(batch(*rows), V, J))
    assert counted.samples == ("b", "m", "a")
    assert counted.reasons == ("no CDR3", "no J")
    assert (counted.count("b"), counted.count("b", "no CDR3"), counted.count("a")) == (1, 1, 0)
    assert (counted.total(), counted.total("no J")) == (2, 1)
    assert RowCounts() + counted == counted


# kept, and dropped for which reason: looked at by eye, explained in the comments
REAL = [
    ("human_TRB/full_A4-i125.txt.gz", "TRB", {"": 59977, "out of frame": 2378, "stop codon": 244}),
    ("mouse/dash.csv", "TRB", {"": 1924}),
    # TRAJ7 and TRAJ44 have no Phe or Trp codon: the table gives no part of them
    ("mouse/dash.csv", "TRA", {"": 1896, "unknown J": 28}),
    (
        "formats/10x_hs_pbmc3_t_filtered_contig_annotations.csv.gz",
        "TRB",
        {"": 1616, "other locus": 1928, "no CDR3": 372, "not productive": 88},
    ),
    (
        "formats/10x_hs_pbmc3_t_filtered_contig_annotations.csv.gz",
        "TRA",  # TRAJ35 has a Cys codon in that place
        {"": 1496, "other locus": 2088, "no CDR3": 262, "not productive": 147, "unknown J": 11},
    ),
    ("formats/immunesim_trb_airr.tsv", "TRB", {"": 100}),
    ("formats/airr_good_rearrangement.tsv", "TRB", {"other locus": 9}),  # of IGH
    ("formats/airr_bad_rearrangement.tsv", "TRB", {"other locus": 11}),
    (
        "formats/Adaptive2020_immunoSEQ.tsv",
        "TRB",
        {
            "": 813,
            "out of frame": 161,
            "stop codon": 17,
            "no anchors": 1,
            "unknown V": 3,
            "ambiguous V": 4,
        },
    ),
]


@pytest.mark.parametrize(("name", "locus", "counts"), REAL)
def test_real_repertoires_are_read_as_they_were_looked_at(
    shared: Path, name: str, locus: str, counts: dict[str, int]
) -> None:
    data = shared / "data" / "tcr"
    table = str(data / "germline" / "germline_cdr3_parts.tsv")
    species = "mouse" if name.startswith("mouse") else "human"
    germline = open_germline(table, locus=locus, species=species)
    resolvers = [germline.resolver(region) for region in "VJ"]
    found = sum_row_counts(
        row_counts(*clean(rows, *resolvers)) for rows in open_repertoire(data / name, locus=locus)
    )
    reasons_found = ["", *found.reasons]
    assert {
        reason: found.total(reason) for reason in reasons_found if found.total(reason)
    } == counts
