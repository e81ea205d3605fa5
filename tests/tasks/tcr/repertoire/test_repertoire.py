"""Repertoires in: formats, lines, what is wrong with a file and with a row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from helpers import tcr_tables
from helpers.tcr_tables import (
    GOOD,
    HEADER,
    PACKED,
    RECORDS,
    WRITERS,
    Record,
    expected,
    fields_of,
    rows_in,
    written,
)
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.repertoire import open_repertoire
from gangsaw.tasks.tcr.repertoire.opening import sample_name
from gangsaw.tasks.tcr.repertoire.tables.header import MAX_LINE
from gangsaw.tasks.tcr.repertoire.tables.kernels import CYS, PHE_TRP


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("writer", WRITERS)
def test_what_was_written_is_read(tmp_path: Path, writer: str, packed: str) -> None:
    path = written(tmp_path, PACKED[packed](WRITERS[writer](RECORDS).encode()))
    rows = rows_in(path, columns=tcr_tables.OWN if writer == "own" else None)
    want = [expected(record, line, writer) for line, record in enumerate(RECORDS, 2)]
    assert [fields_of(row) for row in rows] == want


def test_a_file_without_a_column_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, WRITERS["airr"](RECORDS).replace("j_call", "jay"))
    with pytest.raises(BadParams, match=r"m\.txt \(AIRR\) needs a column j_call; it has .*jay"):
        open_repertoire(path, locus="TRB")


@pytest.mark.parametrize("role", ["sample", "copies", "id", "locus"])
def test_a_column_that_the_user_names_must_be_there(tmp_path: Path, role: str) -> None:
    path = written(tmp_path, WRITERS["airr"](RECORDS))
    with pytest.raises(BadParams, match="needs a column nope; it has"):
        open_repertoire(path, locus="TRB", columns={role: "nope"})
    own = {"junction": "junction", "v": "v_call", "j": "j_call", role: "nope"}
    with pytest.raises(BadParams, match="needs a column nope; it has"):
        open_repertoire(path, locus="TRB", columns=own)


def test_spaces_around_a_sequence_are_no_part_of_it(tmp_path: Path) -> None:
    text = "v_call,j_call,junction\nTRBV2, TRBJ1-1,  TGTGCCTTT \n"
    (row,) = rows_in(written(tmp_path, text))
    assert (row["cdr3"], row["anchors"]) == ("GCC", CYS | PHE_TRP)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_ends_of_lines_delimiters_and_a_byte_order_mark(
    tmp_path: Path, delimiter: str, end: str
) -> None:
    text = tcr_tables.table(tcr_tables.airr_columns(RECORDS), delimiter, end)
    want = [expected(record, line, "airr") for line, record in enumerate(RECORDS, 2)]
    for data in (text, "\ufeff" + text, text.removesuffix(end)):
        rows = rows_in(written(tmp_path, data))
        assert [fields_of(row) for row in rows] == want


def test_lines_are_counted_through_comments_empty_lines_and_quotes(tmp_path: Path) -> None:
    text = (
        "# made by hand\r\n"
        "\n"
        '"sequence_id","v_call",j_call,junction\r\n'
        'a,"TRBV1,TRBV2",TRBJ1-1,TGTGCAAAATTT\n'
        "\n"
        "# a remark, in the middle\n"
        '"say ""b""",TRBV1,TRBJ1-1,TGTGCAAAATTT\r\n'
        '"",TRBV1,"TRBJ1-1","TGTGCAAAATTT"'
    )
    rows = rows_in(written(tmp_path, text))
    assert [(row["line"], row["id"], row["v_call"], row["reason"]) for row in rows] == [
        (4, "a", "TRBV1,TRBV2", ""),
        (7, 'say "b"', "TRBV1", ""),
        (8, "", "TRBV1", ""),
    ]
    assert {row["cdr3"] for row in rows} == {"GCAAAA"}


def one_row(folder: Path, line: str | bytes) -> dict[str, Any]:
    """What becomes of one line between two good ones."""
    raw = line if isinstance(line, bytes) else line.encode()
    rows = rows_in(written(folder, HEADER.encode() + GOOD.encode() + raw + b"\n" + GOOD.encode()))
    assert [row["line"] for row in rows] == [2, 3, 4]
    assert rows[0]["reason"] == rows[2]["reason"] == ""
    assert {**rows[0], "line": 4} == rows[2]
    return rows[1]


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        ("x\tTRBV1", "ragged line", "2 fields, not 7"),
        (GOOD.strip() + "\t", "ragged line", "8 fields, not 7"),
        ('"x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t2\tTRB\tT', "ragged line", "a quote is not closed"),
        ('"x"y\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t2\tTRB\tT', "ragged line", "a quote is not closed"),
        ("x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t-2\tTRB\tT", "not a number of copies", "-2"),
        ("x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t0\tTRB\tT", "not a number of copies", "0"),
        ("x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t0.5\tTRB\tT", "not a number of copies", "0.5"),
        ("x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\tmany\tTRB\tT", "not a number of copies", "many"),
        ("x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t1E99\tTRB\tT", "not a number of copies", "1E99"),
        (f"x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t{2**63}\tTRB\tT", "not a number of copies", str(2**63)),
        ("x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t2\tTRA\tT", "other locus", "TRA"),
        ("x\tTRBV1\tTRBJ1-1\tTGTTTT\t2\tTRB\tT", "too short", "TGTTTT"),
    ],
)
def test_a_row_that_cannot_be_read_is_named(
    tmp_path: Path, line: str, reason: str, detail: str
) -> None:
    row = one_row(tmp_path, line)
    assert (row["reason"], row["detail"]) == (reason, detail)


@pytest.mark.parametrize(
    ("written_as", "copies"),
    [
        ("12", 12),
        ("12.0", 12),
        ("1.2E1", 12),
        ("+12", 12),
        ("", 1),
        ("NA", 1),
        (2**63 - 1, 2**63 - 1),
    ],
)
def test_copies_are_read_as_programs_write_them(
    tmp_path: Path, written_as: object, copies: int
) -> None:
    row = one_row(tmp_path, f"x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t{written_as}\tTRB\tT")
    assert (row["copies"], row["reason"]) == (copies, "")


@pytest.mark.parametrize(
    ("written_as", "productive"),
    [("T", True), ("true", True), ("TRUE", True), ("F", False), ("False", False), ("", None)],
)
def test_productive_is_read_as_programs_write_it(
    tmp_path: Path, written_as: str, productive: bool | None
) -> None:
    row = one_row(tmp_path, f"x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t1\tTRB\t{written_as}")
    assert row["productive"] is productive


def test_bytes_that_are_not_utf8_cost_their_row_alone(tmp_path: Path) -> None:
    row = one_row(tmp_path, b"x\tTRBV\xff1\tTRBJ1-1\tTGTGCAAAATTT\t2\tTRB\tT")
    assert (row["reason"], row["detail"], row["v_call"]) == ("not UTF-8", "v_call", "")
    good = one_row(tmp_path, "ß\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t2\tTRB\tT")
    assert (good["id"], good["reason"]) == ("ß", "")


def test_letters_that_are_none_are_left_for_cleaning(tmp_path: Path) -> None:
    row = one_row(tmp_path, "x\tTRBV1\tTRBJ1-1\ttgtgcu\0zé-aattt\t2\tTRB\tT")
    assert (row["cdr3"], row["reason"]) == ("GCT\0z??-AA", "")


def test_a_line_that_is_too_long_is_named_and_not_held(tmp_path: Path) -> None:
    long = b"x" * (3 * MAX_LINE + 7)
    for at, line in enumerate((long, long + b"\t" * 6, long[: MAX_LINE + 1])):
        row = one_row(tmp_path, line)
        assert (row["reason"], row["detail"]) == ("ragged line", f"longer than {MAX_LINE} bytes"), (
            at
        )
    allowed = one_row(tmp_path, long[: MAX_LINE - 100] + b"\t" + GOOD.strip()[2:].encode())
    assert allowed["reason"] == ""


def test_rows_that_all_leave_out_the_last_columns_are_read(tmp_path: Path) -> None:
    line = GOOD.rpartition("\t")[0] + "\n"
    path = written(tmp_path, HEADER + line * 5)
    assert "rows end after 6 of 7 columns" in open_repertoire(path, locus="TRB").notes[0]
    assert [row["reason"] for row in rows_in(path)] == [""] * 5
    mixed = rows_in(written(tmp_path, HEADER + line * 5 + GOOD))
    assert [row["reason"] for row in mixed] == ["ragged line"] * 5 + [""]


def test_rows_that_leave_out_needed_columns_are_ragged(tmp_path: Path) -> None:
    rows = rows_in(written(tmp_path, HEADER + "x\n" * 6 + GOOD))
    assert [row["detail"] for row in rows] == ["1 fields, not 7"] * 6 + [""]


def test_rows_with_names_as_r_writes_them_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + "".join(f'"{n}"\t{GOOD}' for n in range(6)))
    rows = rows_in(path)
    assert [(row["id"], row["cdr3"], row["copies"]) for row in rows] == [("x", "GCAAAA", 2)] * 6
    ended = written(tmp_path, HEADER + GOOD.replace("\n", "\t\n") * 6)
    assert [row["id"] for row in rows_in(ended)] == ["x"] * 6


def test_the_cdr3_stands_in_where_there_is_no_junction(tmp_path: Path) -> None:
    text = (
        "sequence_id\tv_call\tj_call\tjunction\tcdr3\n"
        "a\tV\tJ\tTGTGCAAAATTT\tCCC\nb\tV\tJ\t\tggguuu\nc\tV\tJ\t\t\nd\tV\tJ\tNone\tNA\n"
    )
    rows = rows_in(written(tmp_path, text))
    assert [row["cdr3"] for row in rows] == ["GCAAAA", "GGGTTT", "", ""]
    assert [row["reason"] for row in rows] == [""] * 4


@pytest.mark.parametrize(
    ("junction", "anchors"),
    [
        ("TGTAAATTT", CYS | PHE_TRP),
        ("TGCAAATGG", CYS | PHE_TRP),
        ("TGYAAATTY", CYS | PHE_TRP),
        ("TGGAAATTC", PHE_TRP),
        ("TGTAAATTG", CYS),
        ("AAAAAAAAA", 0),
    ],
)
def test_anchor_codons_are_found(tmp_path: Path, junction: str, anchors: int) -> None:
    assert one_row(tmp_path, f"x\tV\tJ\t{junction}\t2\tTRB\tT")["anchors"] == anchors


def test_a_paired_table_is_read_by_chain(tmp_path: Path) -> None:
    path = written(tmp_path, tcr_tables.tcrdist([Record(junction="TGTGCAAAATTT")]))
    alpha, beta = (rows_in(path, locus=locus)[0] for locus in ("TRA", "TRB"))
    assert (alpha["v_call"], alpha["reason"]) == ("TRAV1*01", "too short")
    assert (beta["v_call"], beta["cdr3"]) == ("TRBV6-2*01", "GCAAAA")


def test_the_best_hits_of_mixcr_are_the_call(tmp_path: Path) -> None:
    text = (
        "cloneCount\tallVHitsWithScore\tallJHitsWithScore\tnSeqCDR3\n"
        "3\tTRBV6-2*00(9.5),TRBV6-3*00(9.5),TRBV6-5*00(9.4)\tTRBJ1-1*02(7)\tTGTGCAAAATTT\n"
    )
    (row,) = rows_in(written(tmp_path, text))
    assert (row["v_call"], row["j_call"], row["copies"]) == ("TRBV6-2,TRBV6-3", "TRBJ1-1*02", 3)


def test_immunoseq_names_ties_and_places_that_are_not_in_the_read(tmp_path: Path) -> None:
    header = (
        "rearrangement\ttemplates\tframe_type\tcdr3_length\tv_index\tv_resolved\tv_gene\t"
        "v_gene_ties\tj_resolved\n"
    )
    read = "AATGTGCAAAATTTCC"
    lines = [
        f"{read}\t1\tIn\t12\t2\tTCRBV06\tunresolved\tTCRBV06-02,TCRBV06-03\tTCRBJ01-01*01",
        f"{read}\t1\tOut\t12\t5\tTCRBV06-02*01\tTCRBV06-02\tno data\tTCRBJ01-01*01",
        f"{read}\t1\tStop\tno data\t2\tTCRBV06-02*01\tTCRBV06-02\tno data\tTCRBJ01-01*01",
        f"{read}\t1\tno data\t12\t-1\tTCRBV06-02*01\tTCRBV06-02\tno data\tTCRBJ01-01*01",
    ]
    rows = rows_in(written(tmp_path, header + "\n".join(lines)))
    assert [row["cdr3"] for row in rows] == ["GCAAAA", "", "", ""]
    assert [row["productive"] for row in rows] == [True, False, False, None]
    assert [row["v_call"] for row in rows[:2]] == ["TCRBV06-02,TCRBV06-03", "TCRBV06-02*01"]


def test_parquet_is_read_by_rows(tmp_path: Path) -> None:
    path = written(tmp_path, tcr_tables.parquet(RECORDS * 3), "m.tsv.gz")
    rows = rows_in(path)
    want = [expected(record, row, "airr") for row, record in enumerate(RECORDS * 3, 1)]
    assert [fields_of(row) for row in rows] == want


def test_parquet_of_other_types_is_read(tmp_path: Path) -> None:
    columns = {
        "v_call": pa.array(["TRBV1", None, "TRBV1"]).dictionary_encode(),
        "j_call": pa.array(["TRBJ1-1"] * 3, pa.large_string()),
        "junction": pa.array(["TGTGCAAAATTT"] * 3),
        "duplicate_count": pa.array([2.0, 0.5, None]),
        "productive": pa.array([True, False, None]),
    }
    pq.write_table(pa.table(columns), tmp_path / "m.parquet")
    rows = rows_in(tmp_path / "m.parquet")
    assert [row["v_call"] for row in rows] == ["TRBV1", "", "TRBV1"]
    assert [row["copies"] for row in rows][::2] == [2, 1]
    assert [row["reason"] for row in rows] == ["", "not a number of copies", ""]
    assert [row["productive"] for row in rows] == [True, False, None]


def test_columns_can_be_named_in_place_of_those_of_the_format(tmp_path: Path) -> None:
    path = written(tmp_path, WRITERS["airr"](RECORDS))
    rows = rows_in(path, columns={"sample": "sequence_id", "copies": "SEQUENCE"})
    assert [(row["sample"], row["copies"]) for row in rows] == [("a", 1), ("b", 1), ("c", 1)]
    rows = rows_in(path, columns={"cdr3": "junction"})
    assert [row["cdr3"] for row in rows] == [record.junction for record in RECORDS]


@pytest.mark.parametrize(
    ("name", "sample"),
    [
        ("A2-i129.txt.gz", "A2-i129"),
        ("s.1.TRB.tsv", "s.1.TRB"),
        ("x.parquet", "x"),
        (".tsv", ".tsv"),
        ("plain", "plain"),
    ],
)
def test_a_file_names_its_sample(name: str, sample: str) -> None:
    assert sample_name(Path(name)) == sample


LETTERS = st.text("ACGTN", min_size=7, max_size=40)
NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]))
CALLS = st.sampled_from(["TRBV1*01", "TRBV6-2", "TRBV6-2*01,TRBV6-3*01", ""])
ANY_RECORD = st.builds(
    Record,
    junction=LETTERS.filter(lambda junction: junction[3:-3].upper() != "NA"),  # means: no value
    v=CALLS,
    d=st.sampled_from(["TRBD1*01", ""]),
    j=CALLS,
    copies=st.integers(1, 2**63 - 1),
    id=NAMES,
    sample=NAMES,
)


@given(st.lists(ANY_RECORD, max_size=8), st.sampled_from([*WRITERS, "parquet"]))
def test_records_of_all_kinds_are_read_as_written(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record], writer: str
) -> None:
    folder = tmp_path_factory.mktemp("any")
    if writer == "parquet":
        path, first = written(folder, tcr_tables.parquet(records)), 1
    else:
        path, first = written(folder, WRITERS[writer](records)), 2
    rows = rows_in(path, columns=tcr_tables.OWN if writer == "own" else None)
    want = [expected(record, line, writer) for line, record in enumerate(records, first)]
    assert [fields_of(row) for row in rows] == want


def test_an_unproductive_row_of_imgt_says_so(tmp_path: Path) -> None:
    text = WRITERS["imgt"](RECORDS)
    first, second = "productive (see comment)", "unproductive (see comment)"
    text = text.replace(first, "No results", 1).replace(first, second, 1)
    rows = rows_in(written(tmp_path, text))
    assert [row["productive"] for row in rows] == [None, False, True]
