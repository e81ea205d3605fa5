"""State files with right checksums and wrong content: CorruptChunk that names the file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gangsaw
from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.jobs.figures.report import describe
from gangsaw.tasks.jobs.steps.work_folder import begin_steps
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.history import HISTORY
from gangsaw.tasks.store.state.job_folder import JOB as TARGET_JOB
from gangsaw.tasks.store.state.job_folder import STEPS_JOB
from gangsaw.tasks.store.state.manifest import MANIFEST, open_manifest
from gangsaw.tasks.store.state.records import (
    add_checksum,
    pack_batches,
    unpack_batches,
    unpack_records,
)
from gangsaw.tasks.store.state_fields import as_count, read_fields, text_at

WRONG = (None, "x", [], {}, -1, 1.5, True, 1 << 80)
FIELDS = ("format", "job", "first", "count", "raw_bytes", "batches")
BODIES = (b"abc", b'"x"\n', b"[]\n", b"null\n", b"\xff\xfe\n", b"", b"[" * 50_000, b"{}\n")
ROOT = {"format": 2, "job": "j", "count": 1, "raw_bytes": 1, "part_rows": 1}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    np.arange(64, dtype="<u2").tofile(tmp_path / "in.raw")
    gangsaw.compress(tmp_path / "in.raw", tmp_path / "a.zarr", shape=(4, 4, 4), dtype="uint16")
    return tmp_path / "a.zarr"


def _manifests(store: Path) -> list[bytes]:
    """Return manifests with a right checksum, each with one thing that is wrong."""
    head, _, rows = (store / "data" / MANIFEST).read_bytes()[9:].partition(b"\n")
    fields = json.loads(head)
    wrong = [
        {**fields, name: value}
        for name in FIELDS
        for value in WRONG
        if not (name == "job" and value == "x") and not (name == "batches" and value == [])
    ]
    lacking = [{k: v for k, v in fields.items() if k != name} for name in fields]
    roots = [{**ROOT, name: value} for name in ROOT for value in (None, [], -1, 0.5)]
    own = [*wrong, *lacking, {**fields, "first": 1}, {**fields, "batches": [[7, 1]]}]
    made = [add_checksum(json.dumps(one).encode() + b"\n", rows) for one in own]
    made += [add_checksum(json.dumps(one).encode() + b"\n", bytes(20)) for one in roots]
    return [*made, *map(add_checksum, BODIES)]


def test_manifests_with_wrong_fields_are_refused(store: Path) -> None:
    made, array = _manifests(store), open_prefix(str(store)) / "data"
    assert open_manifest(array) is not None
    for data in made:
        (store / "data" / MANIFEST).write_bytes(data)
        with pytest.raises(CorruptChunk, match="the manifest is damaged") as found:
            open_manifest(array)
        assert (found.value.chunk, found.value.store) == (MANIFEST, str(array))


def test_verify_names_a_wrong_manifest(store: Path) -> None:
    (store / "data" / MANIFEST).write_bytes(add_checksum(b'"x"\n'))
    report = gangsaw.verify(store)
    assert any(MANIFEST in line for line in report.problems)


def test_journal_entries_with_wrong_fields_do_not_count(store: Path) -> None:
    whole = unpack_records((store / "data" / MANIFEST).read_bytes())
    assert whole is not None
    again = unpack_batches(pack_batches([whole]))
    assert again is not None
    assert again[0].rows.tobytes() == whole.rows.tobytes()
    for body in BODIES:
        assert unpack_batches(add_checksum(body)) is None


def test_history_with_wrong_lines_is_as_good_as_none(store: Path) -> None:
    (good,) = describe(str(store)).history
    path = store / "data" / HISTORY
    line = path.read_text().strip()
    fields = json.loads(line)
    wrong = [json.dumps({**fields, name: value}) for name in fields for value in (None, [], {})]
    path.write_text(
        "\n".join([*wrong, "[" * 50_000, line.replace('"chunks": 1', '"chunks": 1e999')])
    )
    assert describe(str(store)).history == ()
    path.write_text("\n".join([*wrong, line]))
    assert describe(str(store)).history == (good,)


def test_a_job_beside_its_target_that_is_no_json(tmp_path: Path) -> None:
    (tmp_path / STEPS_JOB).write_text("[" * 50_000)
    with pytest.raises(CorruptChunk, match=r"job\.json"):
        begin_steps(tmp_path, {"version": 1}, "sources")
    (tmp_path / STEPS_JOB).write_text('{"version": 0}')
    with pytest.raises(BadParams, match="an earlier version"):
        begin_steps(tmp_path, {"version": 1}, "sources")


def test_numbers_are_counts() -> None:
    fields = read_fields(b'{"a": 3, "b": true, "c": -1, "d": "x"}')
    assert (fields.count("a"), fields.text("d")) == (3, "x")
    for name in ("b", "c", "d", "absent"):
        with pytest.raises(CorruptChunk, match=name):
            fields.count(name)


def test_a_wrong_job_names_its_file() -> None:
    assert text_at(b'{"source": "a"}', "source", "s.zarr/data", "job.json") == "a"
    for body in (*BODIES, b'{"source": 7}'):
        with pytest.raises(CorruptChunk) as found:
            text_at(body, "source", "s.zarr/data", "job.json")
        assert (found.value.store, found.value.chunk) == ("s.zarr/data", "job.json")


def test_a_job_that_is_resumed_and_is_no_json_names_its_file(tmp_path: Path) -> None:
    raw, target = tmp_path / "in.raw", tmp_path / "a.zarr"
    np.arange(64, dtype="<u2").tofile(raw)
    gangsaw.compress(raw, target, shape=(4, 4, 4), dtype="uint16")
    for body in BODIES[:-1]:  # the last one is another job
        (target / "data" / TARGET_JOB).write_bytes(body)
        with pytest.raises(CorruptChunk, match=r"a\.zarr/data.*job\.json"):
            gangsaw.compress(raw, target, shape=(4, 4, 4), dtype="uint16", resume=True)


def test_counts_of_arrays_without_axes(tmp_path: Path) -> None:
    """Their bytes are noted as 8.0, in stores of all versions."""
    import xarray as xr

    data = xr.Dataset({"u": (("y", "x"), np.zeros((20, 30), "u2"))}, coords={"spatial_ref": 7})
    gangsaw.compress(data, tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=data).ok
    assert as_count(8.0, "raw_bytes") == 8
    for wrong in (8.5, float("inf"), True, -1.0, "8"):
        with pytest.raises(CorruptChunk):
            as_count(wrong, "raw_bytes")
