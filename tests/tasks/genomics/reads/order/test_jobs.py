"""The order as a job: stopped anywhere it goes on to the same store, whatever its limits."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.clusters import in_process

import gangsaw
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.engine.report.progress import Progress
from gangsaw.tasks.genomics.reads.files.fastq import FastqFile
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.settings import Settings
from gangsaw.tasks.genomics.reads.order import job
from gangsaw.tasks.genomics.reads.order.intake import Facts
from gangsaw.tasks.genomics.reads.order.plan import OrderLimits
from gangsaw.tasks.genomics.reads.synthetic import make_reads
from gangsaw.tasks.sources.source import StageResources
from gangsaw.tasks.store.objects.prefix import Prefix

RANGE = 1 << 13
ONE = OrderLimits(range_letters=RANGE)
MANY = OrderLimits(part_bytes=1 << 14, range_letters=RANGE, bucket_groups=50)
TWO_LEVELS = replace(MANY, most_segments=20)
STEPS = ["intake", "sign", "count", "plan", "scatter", "slabs", "regroup", "arrange"]
TRIED = [*STEPS, "price", "choice"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Pairs in turn; some lines end otherwise, and one has a name behind "+"."""
    made = make_reads(250, 60, genome=3000)
    mates = [text.splitlines(keepends=True) for text in (made.first, made.second)]
    lines = [line for i in range(0, 1000, 4) for side in mates for line in side[i : i + 4]]
    for i in (0, 41, 1003):
        lines[i] = lines[i][:-1] + b"\r\n"
    lines[402] = b"+other\n"
    path = tmp_path / "in.fastq"
    path.write_bytes(b"".join(lines))
    return path


def compress(source: Path, target: Path, limits: OrderLimits = MANY, **own: object) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(job, "LIMITS", limits)
        gangsaw.compress(source, target, **{"order": "sorted", "interleaved": "yes", **own})  # type: ignore[arg-type]
    return target


def tree(folder: Path) -> dict[str, str]:
    """Digest of each object of a store."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def pairs(text: bytes) -> list[bytes]:
    lines = text.splitlines(keepends=True)
    return sorted(b"".join(lines[i : i + 8]) for i in range(0, len(lines), 8))


@pytest.mark.full
def test_limits_and_workers_do_not_change_the_store(source: Path, tmp_path: Path) -> None:
    whole = tree(compress(source, tmp_path / "one.zarr", ONE))
    assert tree(compress(source, tmp_path / "many.zarr", MANY)) == whole
    assert tree(compress(source, tmp_path / "two.zarr", TWO_LEVELS)) == whole
    with in_process() as client:
        assert tree(compress(source, tmp_path / "c.zarr", TWO_LEVELS, client=client)) == whole
    assert {path.name for path in tmp_path.iterdir()} == {
        "in.fastq",
        "one.zarr",
        "many.zarr",
        "two.zarr",
        "c.zarr",
    }
    gangsaw.decompress(tmp_path / "two.zarr", tmp_path / "out.fastq")
    assert pairs((tmp_path / "out.fastq").read_bytes()) == pairs(source.read_bytes())


@pytest.mark.full
def test_each_step_tells_how_far_it_is(source: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    compress(source, tmp_path / "a.zarr", TWO_LEVELS, on_progress=seen.append)
    assert list(dict.fromkeys(state.step for state in seen)) == [*STEPS, ""]
    read = [state.share for state in seen if state.step == "intake"]
    assert read[-1] == 1.0
    for step in STEPS[1:]:
        last = [state for state in seen if state.step == step][-1]
        assert last.done == last.total > 0
        assert last.raw_bytes > 0
    assert {state.step: state.done for state in seen}["regroup"] > 1


class Disk:
    """Sees what steps write; full at the second object of one of them."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.full = ""
        self.written: list[str] = []
        self.refused: list[str] = []
        self._put = Prefix.put
        patch.setattr(Prefix, "put", lambda *args: self.put(*args))

    def put(self, place: Prefix, key: str, data: bytes) -> None:
        if place.folder is not None and key.isdecimal():
            name, is_alone = f"{place.folder.name}/{key}", self.full in ("plan", "slabs", "choice")
            if place.folder.name == self.full and int(key) == (0 if is_alone else 1):
                self.refused.append(name)
                raise OSError(28, "No space left on device", key)
            self.written.append(name)
        self._put(place, key, data)


@pytest.mark.full
@pytest.mark.parametrize(("order", "steps"), [("sorted", STEPS), ("smallest", TRIED)])
def test_a_job_that_stops_in_each_step_goes_on(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str, steps: list[str]
) -> None:
    target, scratch = tmp_path / "a.zarr", tmp_path / "scratch"
    scratch.mkdir()
    disk = Disk(monkeypatch)
    for i, disk.full in enumerate(steps):
        with pytest.raises(JobFailed, match=r"No space left on device.*run again with --resume"):
            compress(source, target, TWO_LEVELS, scratch=scratch, resume=i > 0, order=order)
    assert not target.exists()
    with pytest.raises(BadParams, match="holds a different job"):
        compress(source, target, TWO_LEVELS, scratch=scratch, resume=True, order="bins")
    disk.full = ""
    compress(source, target, TWO_LEVELS, scratch=scratch, resume=True, order=order)
    assert len(set(disk.written)) == len(disk.written)  # nothing was made twice
    assert len(disk.refused) == len(steps)
    assert set(disk.refused) <= set(disk.written)
    assert not any(scratch.iterdir())
    limits = ONE if order == "sorted" else MANY  # parts are what the trial of the input is made of
    assert tree(target) == tree(compress(source, tmp_path / "whole.zarr", limits, order=order))


def test_a_source_that_changed_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, whole = tmp_path / "a.zarr", source.read_bytes()
    disk = Disk(monkeypatch)
    for disk.full, changed, message in (
        ("intake", whole.replace(b"\nA", b"\nC", 1), "part 0 differs from the source"),
        ("scatter", whole[:-200], "in.fastq has changed since"),
    ):
        with pytest.raises(JobFailed):
            compress(source, target, resume=disk.full == "scatter")
        source.write_bytes(changed)
        with pytest.raises(BadParams, match=message):
            compress(source, target, resume=True)
        source.write_bytes(whole)


def test_records_that_get_lost_are_noticed(source: Path, tmp_path: Path) -> None:
    made = ReadInput((str(source),), Settings(order="bins", interleaved=True))
    arranged = job.order_reads(made, StageResources(tmp_path / "room"))
    other = replace(arranged, facts=replace(arranged.facts, digest=1))
    with pytest.raises(CorruptChunk, match="not those that were read"):
        list(other.groups([FastqFile(str(source))]))
    path = arranged.parts.path(0)
    path.write_bytes(path.read_bytes()[:-9] + b"123456789")
    with pytest.raises(CorruptChunk, match="scratch is damaged"):
        list(arranged.groups([FastqFile(str(source))]))


FACTS = {
    "has_returns": False, "ends_open": True, "tail": "", "width": 0, "lost": ["a"], "stamp": "1 2",
    "notes": [],
}  # fmt: skip
WRONG: list[dict[str, object]] = [
    *({"files": [{**FACTS, name: wrong}]} for name in FACTS for wrong in (None, 1.5, {}, [1], -1)),
    *({"files": wrong} for wrong in (None, {}, [1], [None], [{}])),
    *({name: wrong} for name in ("n_parts", "groups", "digest") for wrong in (None, "1", -1)),
    {"files": [{**FACTS, "tail": "\u00fc"}]},
    {"digest": 1 << 64},
]


def test_facts_with_other_fields_are_refused() -> None:
    whole = {"files": [FACTS], "n_parts": 1, "groups": 2, "digest": (1 << 64) - 1}
    facts = Facts.from_json(json.dumps(whole).encode())
    assert Facts.from_json(facts.to_json()) == facts
    others = [json.dumps({**whole, **one}).encode() for one in WRONG]
    for data in (*others, b"", b"[]", b"\xff", b"[" * 50_000):
        with pytest.raises(CorruptChunk):
            Facts.from_json(data)


def test_the_file_of_other_facts_is_named(source: Path, tmp_path: Path) -> None:
    made, room = ReadInput((str(source),), Settings(order="bins", interleaved=True)), tmp_path / "r"
    whole = job.order_reads(made, StageResources(room)).facts
    kept = room / "intake" / "facts.json"
    for facts, said in (
        (replace(whole, files=whole.files * 2).to_json(), "it describes 2 files instead of 1"),
        (b'{"files": null}', "files is no list"),
    ):
        kept.write_bytes(facts)
        with pytest.raises(CorruptChunk, match=said) as found:
            job.order_reads(made, StageResources(room))
        assert (found.value.store, found.value.chunk) == (str(kept.parent), kept.name)


def test_need_is_told_and_too_little_room_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 10))
    with pytest.raises(BadParams, match=r"--order sorted needs about .* MB of scratch: .* has 0.0"):
        compress(source, tmp_path / "a.zarr")
    with pytest.raises(BadParams, match="--scratch /no/such: no such folder"):
        compress(source, tmp_path / "a.zarr", scratch="/no/such")
    monkeypatch.undo()
    assert not list(tmp_path.glob(".a*/*/0*"))


def piped(text: bytes, pipe: Path, target: Path) -> None:
    writer = threading.Thread(target=lambda: pipe.write_bytes(text))
    writer.start()
    try:
        compress(pipe, target)
    finally:
        writer.join()


@pytest.mark.full
def test_a_pipe_is_ordered_and_not_resumed(source: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.fastq"
    os.mkfifo(pipe)
    with pytest.raises(BadParams, match="record 500"):
        piped(source.read_bytes()[:-40], pipe, tmp_path / "a.zarr")
    assert not list(tmp_path.glob(".*"))  # nobody could go on with it
    piped(source.read_bytes(), pipe, tmp_path / "a.zarr")
    whole = tree(compress(source, tmp_path / "whole.zarr"))
    own = tree(tmp_path / "a.zarr")
    assert {k: v for k, v in own.items() if "/c/" in k} == {
        k: v for k, v in whole.items() if "/c/" in k
    }
    with pytest.raises(BadParams, match="cannot be resumed"):
        compress(pipe, tmp_path / "a.zarr", resume=True)
