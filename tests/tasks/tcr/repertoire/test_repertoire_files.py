"""Repertoire files that are no tables or damaged; batches; any bytes at all."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
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
    rows_in,
    written,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.tasks.tcr.repertoire import ROWS, open_repertoire
from gangsaw.tasks.tcr.repertoire.rows import BATCH_BYTES, BATCH_ROWS
from gangsaw.tasks.tcr.repertoire.tables.header import MAX_LINE


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
        (gzip.compress(b"", mtime=0)[:-3], "end too early"),
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
    assert "its compressed data end too early" in repertoire.failure
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
        with pytest.raises(BadParams, match="other bytes follow its compressed data"):
            rows_in(written(tmp_path, data + b"garbage" * 5))


def test_batches_are_of_one_size_wherever_blocks_end(tmp_path: Path) -> None:
    rows = 2 * BATCH_ROWS + 1234
    path = written(tmp_path, gzip.compress(many(rows).encode(), 1))
    batches = list(open_repertoire(path, locus="TRB"))
    assert [len(batch) for batch in batches] == [BATCH_ROWS, BATCH_ROWS, 1234]
    found = pa.Table.from_batches(batches)
    assert found["line"].to_pylist() == list(range(2, rows + 2))
    assert found["id"].to_pylist() == [str(row) for row in range(rows)]


@pytest.mark.full
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


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_rows_are_the_same_wherever_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    text = HEADER + "# remark\n\r\n" + GOOD * 3 + 'x\n"open\n' + "y" * 2000 + GOOD + GOOD.strip()
    path = written(tmp_path, gzip.compress(text.encode()))
    whole = rows_in(path)
    assert [row["line"] for row in whole] == [4, 5, 6, 7, 8, 9, 10]
    monkeypatch.setattr("gangsaw.tasks.tcr.repertoire.tables.text.BLOCK_BYTES", size)
    monkeypatch.setattr("gangsaw.tasks.tcr.repertoire.tables.text.BLOCK_ROWS", 2)
    assert rows_in(path) == whole


def test_a_header_behind_a_hash_that_lacks_a_column_is_told_so(tmp_path: Path) -> None:
    rows = [line.split("\t") for line in WRITERS["vdjtools"](RECORDS).splitlines()]
    assert rows[0][0].startswith("#")
    text = "\n".join("\t".join(row[:2] + row[3:]) for row in rows) + "\n"
    with pytest.raises(BadParams, match=r"\(VDJtools\) needs a column cdr3nt"):
        open_repertoire(written(tmp_path, text), locus="TRB")


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list])
def test_lists_of_calls_in_parquet_are_read_as_lists_of_texts(tmp_path: Path, kind: Any) -> None:
    plain = pq.read_table(pa.BufferReader(tcr_tables.parquet(RECORDS)))
    calls = pa.array([[call, call] for call in plain["v_call"].to_pylist()], kind(pa.string()))
    path = tmp_path / "lists.parquet"
    pq.write_table(plain.set_column(plain.column_names.index("v_call"), "v_call", calls), path)
    (batch,) = open_repertoire(path, locus="TRB")
    assert batch["v_call"].to_pylist()[0] == ",".join(calls[0].as_py())
