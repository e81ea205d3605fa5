"""Repertoires in: formats, lines, what is wrong with a file and with a row."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tcr_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from tcr_tables import PACKED, WRITERS, Record

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.tcr.repertoire import ROWS, open_repertoire
from gangsaw.tasks.tcr.repertoire.header import MAX_LINE
from gangsaw.tasks.tcr.repertoire.kernels import CYS, PHE_TRP
from gangsaw.tasks.tcr.repertoire.opening import sample_name
from gangsaw.tasks.tcr.repertoire.rows import BATCH_BYTES, BATCH_ROWS

RECORDS = [
    Record(id="a", sample="m1", copies=3),
    Record("TGCGCCAGCAGTGATTTTGAGACCCAGTACTTC", "TRBV13-1", "", "TRBJ2-5*01", 12, "b", "m1"),
    Record("TGTGCNAGCTGG", "TRBV1*01,TRBV2*01", "TRBD2*01", "TRBJ2-7", 2**62, "c", "m2"),
]


def written(folder: Path, data: str | bytes, name: str = "m.txt") -> Path:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def rows_in(path: Path, **options: Any) -> list[dict[str, Any]]:
    """All rows of a file; the batches must be of the schema."""
    batches = list(open_repertoire(path, **{"locus": "TRB"} | options))
    assert all(batch.schema == ROWS for batch in batches)
    for batch in batches:
        batch.validate(full=True)
    rows: list[dict[str, Any]] = pa.Table.from_batches(batches, ROWS).to_pylist()
    return rows


def expected(record: Record, line: int, writer: str) -> dict[str, Any]:
    without_id = writer in tcr_tables.WITHOUT_ID
    without_sample = writer in tcr_tables.WITHOUT_SAMPLE
    return {
        "line": line,
        "id": "" if without_id else record.id,
        "sample": "m" if without_sample else record.sample or "m",
        "cdr3": record.junction[3:-3],
        "v_call": record.v,
        "d_call": record.d,
        "j_call": record.j,
        "copies": record.copies,
        "reason": "",
    }


def fields_of(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in expected(RECORDS[0], 1, "")}


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


HEADER = "sequence_id\tv_call\tj_call\tjunction\tduplicate_count\tlocus\tproductive\n"
GOOD = "x\tTRBV1\tTRBJ1-1\tTGTGCAAAATTT\t2\tTRB\tT\n"


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


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"\n\n  \n", "no header"),
        (b"# only\n# comments\n", "no header"),
        (bytes(range(256)) * 9, "binary"),
        ("v_call\tj_call\n".encode("utf-16"), "UTF-16"),
        (b"v_call\xff\tj_call\tjunction\n", "no table of text in UTF-8"),
        (b"v_call\tj_call\tjunction\rV\tJ\tC\r", "CR alone"),
        (b"PK\x03\x04...", "zip archive"),
        (b"PAR1....", "cannot be read as Parquet"),
        (b"a\tb\tc\n1\t2\t3\n", "no known format .*junction or cdr3, v and j. It has a, b, c"),
        (b"x" * (MAX_LINE + 5), "no header"),
        (b"count\tfreq\tcdr3aa\tv\td\tj\n", r"VDJtools\) needs a column cdr3nt; it has count"),
        (b"v_call\tj_call\tjunction\tjunction\n", "two columns 'junction'"),
        (gzip.compress(b"")[:-3], "end early"),
    ],
)
def test_a_file_that_is_no_table_is_named(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(BadParams, match=message) as caught:
        open_repertoire(written(tmp_path, data), locus="TRB")
    assert "m.txt" in str(caught.value)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.tsv", tmp_path):
        with pytest.raises(BadParams, match=path.name):
            open_repertoire(path, locus="TRB")


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, WRITERS["own"](RECORDS))
    with pytest.raises(BadParams, match="locus"):
        open_repertoire(path, locus="beta")
    with pytest.raises(BadParams, match="not nt"):
        open_repertoire(path, locus="TRB", columns={"nt": "junction"})
    with pytest.raises(BadParams, match="needs a column zz"):
        open_repertoire(path, locus="TRB", columns={"junction": "zz", "v": "V gene", "j": "J gene"})


def test_a_header_alone_is_no_rows(tmp_path: Path) -> None:
    for text in (HEADER, HEADER.strip()):
        assert rows_in(written(tmp_path, text)) == []


def many(rows: int) -> str:
    return HEADER + "".join(f"{row}{GOOD[1:]}" for row in range(rows))


@pytest.mark.parametrize("packed", ["gz", "bz2", "xz", "zst"])
def test_data_that_end_early_are_an_error_or_read_as_far_as_they_go(
    tmp_path: Path, packed: str
) -> None:
    random = np.random.default_rng(3)
    ids = random.integers(0, 2**60, 60_000)  # bzip2 has blocks of 900 kB
    text = HEADER + "".join(f"{name}{GOOD[1:]}" for name in ids)
    data = PACKED[packed](text.encode())
    path = written(tmp_path, data[: len(data) * 2 // 3])
    with pytest.raises(BadParams, match=r"m\.txt: .* (early|damaged).*lines were read"):
        rows_in(path)
    repertoire = open_repertoire(path, locus="TRB", keep_going=True)
    found = pa.Table.from_batches(list(repertoire), ROWS)
    assert ("early" if packed != "zst" else "damaged") in repertoire.failure
    assert f"{found.num_rows + 1} lines were read" in repertoire.failure
    assert 0 < found.num_rows < 60_000
    assert found["id"].to_pylist() == [str(name) for name in ids[: found.num_rows]]
    assert not any(found["reason"].to_pylist())


def test_data_that_fail_their_checksum_are_an_error(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(many(50).encode()))
    data[-8] ^= 1
    with pytest.raises(BadParams, match="damaged"):
        rows_in(written(tmp_path, bytes(data)))


def test_bytes_behind_the_end_of_a_stream_are_an_error_but_not_zeros(tmp_path: Path) -> None:
    for pack in (PACKED["gz"], PACKED["bz2"], PACKED["xz"]):
        data = pack(many(50).encode())
        assert len(rows_in(written(tmp_path, data + bytes(512)))) == 50
        with pytest.raises(BadParams, match="damaged"):
            rows_in(written(tmp_path, data + b"garbage" * 5))


def test_batches_are_of_one_size_wherever_blocks_end(tmp_path: Path) -> None:
    rows = 2 * BATCH_ROWS + 1234
    path = written(tmp_path, gzip.compress(many(rows).encode(), 1))
    batches = list(open_repertoire(path, locus="TRB"))
    assert [len(batch) for batch in batches] == [BATCH_ROWS, BATCH_ROWS, 1234]
    found = pa.Table.from_batches(batches)
    assert found["line"].to_pylist() == list(range(2, rows + 2))
    assert found["id"].to_pylist() == [str(row) for row in range(rows)]


def test_batches_of_long_rows_are_smaller(tmp_path: Path) -> None:
    line = "y" * (1 << 19) + GOOD[1:]
    path = written(tmp_path, gzip.compress((HEADER + line * 400).encode(), 1))
    sizes = [(len(batch), batch.nbytes) for batch in open_repertoire(path, locus="TRB")]
    assert sum(rows for rows, _ in sizes) == 400
    assert max(n_bytes for _, n_bytes in sizes) < 2 * BATCH_BYTES


def test_a_repertoire_is_read_again_and_by_another_process(tmp_path: Path) -> None:
    path = written(tmp_path, WRITERS["vdjtools"](RECORDS))
    repertoire = open_repertoire(path, locus="TRB")
    first = [batch.to_pylist() for batch in repertoire]
    assert [batch.to_pylist() for batch in repertoire] == first
    assert [batch.to_pylist() for batch in pickle.loads(pickle.dumps(repertoire))] == first
    assert repertoire.format == "VDJtools"
    assert repertoire.columns["junction"] == "cdr3nt"


LETTERS = st.text("ACGTN", min_size=7, max_size=40)
NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]))
CALLS = st.sampled_from(["TRBV1*01", "TRBV6-2", "TRBV6-2*01,TRBV6-3*01", ""])
ANY_RECORD = st.builds(
    Record,
    junction=LETTERS,
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


HOSTILE = [
    WRITERS["airr"](RECORDS * 3).encode(),
    WRITERS["tenx"](RECORDS * 3).encode(),
    WRITERS["immunoseq"](RECORDS * 3).encode(),
    *(pack(WRITERS["vdjtools"](RECORDS * 3).encode()) for pack in PACKED.values()),
    tcr_tables.parquet(RECORDS * 3),
]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A file with flipped bits, a part cut out or put in, or cut off."""
    data = bytearray(draw(st.sampled_from(HOSTILE)))
    for _ in range(draw(st.integers(0, 4))):
        data[draw(st.integers(0, len(data) - 1))] ^= 1 << draw(st.integers(0, 7))
    at, end = sorted(draw(st.integers(0, len(data))) for _ in "ab")
    if draw(st.booleans()):
        data[at:end] = draw(st.binary(max_size=20))
    return bytes(data)


@settings(max_examples=300)
@given(st.one_of(st.binary(max_size=200), damaged()), st.booleans())
def test_any_bytes_are_rows_or_one_clear_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, keep_going: bool
) -> None:
    path = written(tmp_path_factory.mktemp("hostile"), data)
    most = pa.default_memory_pool().max_memory()
    message = ""
    try:
        rows_in(path, keep_going=keep_going)
    except GangsawError as error:
        message = str(error)
    assert not message or "m.txt" in message
    assert pa.default_memory_pool().max_memory() <= max(most, BATCH_BYTES)
