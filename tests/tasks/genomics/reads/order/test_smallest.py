"""Order `smallest`: of each range the order that takes fewest bytes, never more than the input."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.command_line import CommandLine
from hypothesis import given
from hypothesis import strategies as st

import gangsaw
from gangsaw.tasks.genomics.reads.files.fastq import FastqFile
from gangsaw.tasks.genomics.reads.files.kernels import NAME
from gangsaw.tasks.genomics.reads.files.records import FastqRecords, Field
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.order import job
from gangsaw.tasks.genomics.reads.order.arrange import order_by_place
from gangsaw.tasks.genomics.reads.order.plan import OrderLimits
from gangsaw.tasks.genomics.reads.order.smallest import (
    MOST_BYTES,
    coded_bytes,
    order_by_name,
    smallest_order,
)
from gangsaw.tasks.genomics.reads.stream.stream import ReadStream
from gangsaw.tasks.sources.source import StageResources

N, LENGTH = 3000, 60
LIMITS = OrderLimits(part_bytes=1 << 17, range_letters=1 << 15)
MIXED = np.random.default_rng(8).integers(1000, 9000, (N, 2))
# as few bytes of names as of reads without any, or many: which order is smallest hangs on that
NAMES: dict[str, Callable[[int], str]] = {
    "file": lambda i: (
        f"SRR7.{i + 1} F7:2:{1101 + i // 500}:{1000 + i * 7 % 3500}:{i * 7919 % 20000}"
    ),
    "none": lambda i: "r",
    "mixed": lambda i: f"F7:2:{MIXED[i, 0]}:{MIXED[i, 1]}",
}


def text_of(naming: Callable[[int], str], genome: int = 4000) -> bytes:
    rng = np.random.default_rng(7)
    bases = rng.choice(np.frombuffer(b"ACGT", np.uint8), genome + LENGTH)
    starts = rng.integers(0, genome, N)
    reads = (bases[a : a + LENGTH].tobytes().decode() for a in starts)
    return "".join(f"@{naming(i)}\n{r}\n+\n{'I' * LENGTH}\n" for i, r in enumerate(reads)).encode()


def records_of(path: Path) -> FastqRecords:
    (records,) = FastqFile(str(path)).records()
    return records


def stored(store: Path) -> int:
    chunks = (path for path in store.rglob("c/*") if path.is_file())
    return sum(path.stat().st_size for path in chunks)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "tried"), [("file", "input"), ("none", "place")])
def test_it_takes_no_more_than_others(tmp_path: Path, kind: str, tried: str) -> None:
    """Names in the order of the file pay for keeping it; the same ones for none do not."""
    source, sizes = tmp_path / "in.fastq", {}
    source.write_bytes(text_of(NAMES[kind]))
    for order in ("kept", "bins", "sorted", "smallest"):
        summary = gangsaw.compress(source, tmp_path / order, order=order)
        sizes[order] = stored(tmp_path / order)
        assert sum(summary.array_bytes.values()) == summary.stored_bytes
    assert sizes["smallest"] == min(sizes.values()) < sizes["bins"]
    assert zarr.open_group(tmp_path / "smallest").attrs["gangsaw_reads"]["tried"] == {tried: 1}
    assert gangsaw.verify(tmp_path / "smallest", against=source).ok


def test_names_in_no_order_come_into_theirs(tmp_path: Path) -> None:
    """Reads that overlap nothing have no place to be sorted by, and names are sorted instead."""
    source = tmp_path / "in.fastq"
    source.write_bytes(text_of(NAMES["mixed"], genome=10_000_000))
    records = records_of(source)
    found = smallest_order((records,), Settings(order="smallest"))
    assert found.name == "name"
    names = [records.field(NAME).line(i) for i in found.order.tolist()]
    assert names == sorted(names, key=lambda name: [int(part) for part in name[2:].split(b":")[1:]])
    assert found.n_bytes < coded_bytes((records,), Settings())
    without = smallest_order((records,), Settings(order="smallest", names="none"))
    assert without.name != "name"


@pytest.mark.full
@pytest.mark.parametrize(("genome", "is_input"), [(4000, False), (10_000_000, True)])
def test_of_many_ranges_the_input_is_taken_where_they_take_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, genome: int, is_input: bool
) -> None:
    """Ranges are of reads of one place each; where none overlap, names alone pay for them."""
    monkeypatch.setattr(job, "LIMITS", LIMITS)
    source, back = tmp_path / "in.fastq", tmp_path / "back.fastq"
    source.write_bytes(text_of(NAMES["file"], genome))
    summary = gangsaw.compress(source, tmp_path / "a.zarr", order="smallest")
    gangsaw.decompress(tmp_path / "a.zarr", back)
    assert (back.read_bytes() == source.read_bytes()) == is_input
    (note,) = (note for note in summary.notes if note.startswith("order smallest, of "))
    assert ("as in the input" in note and "by position" not in note) or not is_input
    assert gangsaw.verify(tmp_path / "a.zarr", against=source).ok
    lines = source.read_bytes().splitlines(), back.read_bytes().splitlines()
    records = [Counter(zip(*[iter(one)] * 4, strict=True)) for one in lines]
    assert records[0] == records[1]
    gangsaw.compress(source, tmp_path / "kept.zarr")
    if is_input:
        kept = zarr.open_group(tmp_path / "kept.zarr")["sequence"][:]
        assert np.array_equal(zarr.open_group(tmp_path / "a.zarr")["sequence"][:], kept)


def test_a_job_goes_on_behind_its_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the choice gave up is gone then, and is not asked for."""
    monkeypatch.setattr(job, "LIMITS", LIMITS)
    source = tmp_path / "in.fastq"
    for genome, is_input in ((4000, False), (10_000_000, True)):
        source.write_bytes(text_of(NAMES["file"], genome))
        (own,) = ReadStream((str(source),), Settings("smallest")).inputs
        room = StageResources(tmp_path / str(genome))
        first = job.order_reads(own, room)
        again = job.order_reads(own, room)
        assert again.is_input == first.is_input == is_input
        for one, other in zip(again.groups(own.files()), first.groups(own.files()), strict=True):
            assert np.array_equal(one[0].text, other[0].text)


NAME_TEXT = st.text(st.sampled_from("ab:09127. "), max_size=MOST_BYTES // 4)


@given(st.lists(NAME_TEXT, max_size=30))
def test_names_are_ordered_by_their_numbers(names: list[str]) -> None:
    """As the slow way has it: a number is its length and then its digits."""
    text = np.frombuffer("\n".join(["", *names, ""]).encode(), np.uint8)
    lengths = np.array([len(name) for name in names], np.int64)
    begins = 1 + np.cumsum(lengths + 1) - lengths - 1
    found = order_by_name(Field(text, begins, begins + lengths))

    def key(i: int) -> bytes:
        return re.sub(rb"\d+", lambda m: bytes([48 + len(m[0])]) + m[0], names[i].encode())

    assert found.tolist() == sorted(range(len(names)), key=key)


def test_reads_without_a_place_stay_in_order_where_names_do(tmp_path: Path) -> None:
    """So that names of the many reads of a large genome that overlap none cost what they did."""
    source = tmp_path / "in.fastq"
    source.write_bytes(text_of(NAMES["file"], genome=10_000_000))
    records = records_of(source)
    orders = {has: order_by_place((records,), has_names=has) for has in (True, False)}
    steps = {has: int((np.diff(order) == 1).sum()) for has, order in orders.items()}
    assert steps[True] > 0.9 * N > 10 * steps[False]
    assert sorted(orders[True].tolist()) == list(range(N))


def test_info_tells_what_was_tried(tmp_path: Path, gangsaw: CommandLine) -> None:
    source = tmp_path / "in.fastq"
    source.write_bytes(text_of(NAMES["file"]))
    said = gangsaw.ok("compress", source, tmp_path / "a.zarr", "--order", "smallest").out
    assert "order smallest, of 1 ranges: 1 as in the input" in said
    assert "of these" in said
    assert "name " in said
    assert "1 as in the input" in gangsaw.ok("info", tmp_path / "a.zarr").out
