"""Jobs whose manifest has several parts, and stores of earlier versions."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.job_data import logged, objects, reads
from helpers.job_runs import interrupted, job, labelled_source

import gangsaw
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.formats.raw.source import RawSource, open_raw
from gangsaw.tasks.jobs.verification.verify import verify
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.source import open_zarr
from gangsaw.tasks.store.state import manifest_shards

EARLIER = Path(__file__).parents[2] / "store" / "golden" / "earlier.zip"


@pytest.fixture
def source(tmp_path: Path) -> RawSource:
    return labelled_source(tmp_path)


@pytest.fixture
def whole(source: RawSource, tmp_path: Path) -> Path:
    """A store whose manifest is one object."""
    job(source, tmp_path / "whole.zarr")
    return tmp_path / "whole.zarr"


@pytest.fixture
def _small_parts(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest_shards, "PART_ROWS", 5)


def chunks(store: Path) -> dict[str, bytes]:
    return {key: data for key, data in objects(store).items() if ".gangsaw" not in key}


@pytest.mark.usefixtures("_small_parts")
def test_a_store_in_parts_is_as_one_that_is_not(
    source: RawSource, whole: Path, tmp_path: Path
) -> None:
    target = tmp_path / "a.zarr"
    summary = job(source, target)
    assert (summary.chunks, summary.raw_bytes) == (12, 24_000)
    assert chunks(target) == chunks(whole)
    own = {key for key in objects(target) if ".gangsaw/" in key and key.startswith("data")}
    parts_of_it = {f"data/.gangsaw/parts/{i:05d}" for i in range(3)}
    assert own == {"data/.gangsaw/job.json", "data/.gangsaw/manifest", *parts_of_it}
    report, wanted = verify(target, against=source), verify(whole, against=source)
    assert (report.ok, report.extra) == (True, ())
    assert (report.chunks, report.stored_bytes) == (wanted.chunks, wanted.stored_bytes)
    assert open_zarr(str(target)).identity() == open_zarr(str(whole)).identity()


@pytest.mark.usefixtures("_small_parts")
def test_a_job_in_parts_goes_on(source: RawSource, tmp_path: Path) -> None:
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    job(source, tmp_path / "b.zarr")
    interrupted(source, target)
    interrupted(source, target, resume=True)  # 8 of 12: a part, and 3 chunks in the journal
    assert len(list(target.rglob("journal/*/*/*"))) == 3
    assert (open_prefix(target) / "data/.gangsaw/parts").names() == ["00000"]
    summary = job(logged(source, log), target, resume=True)
    assert (summary.resumed, len(reads(log)), summary.raw_bytes) == (8, 4, 24_000)
    assert objects(target) == objects(tmp_path / "b.zarr")


@pytest.mark.usefixtures("_small_parts")
@pytest.mark.parametrize("finished", [True, False])
def test_lost_chunks_of_a_part_are_done_again(
    source: RawSource, tmp_path: Path, finished: bool
) -> None:
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    job(source, tmp_path / "b.zarr")
    if finished:
        job(source, target)
    else:
        interrupted(source, target)
    for key in ("0/0/2", "0/1/3"):  # chunks 2 and 7
        (target / "data" / "c" / key).unlink()
    summary = job(logged(source, log), target, resume=True)
    assert summary.chunks - summary.resumed == len(reads(log)) == (2 if finished else 6)
    assert summary.raw_bytes == 24_000
    assert objects(target) == objects(tmp_path / "b.zarr")


@pytest.mark.usefixtures("_small_parts")
def test_a_damaged_part_is_made_anew(source: RawSource, tmp_path: Path) -> None:
    target, log = tmp_path / "a.zarr", tmp_path / "log"
    job(source, target)
    before = objects(target)
    part = target / "data" / ".gangsaw" / "parts" / "00001"
    part.write_bytes(part.read_bytes()[:-1])
    assert any("a part of the manifest is damaged" in line for line in _problems(target))
    job(logged(source, log), target, resume=True)
    assert len(reads(log)) == 5
    assert objects(target) == before


def _problems(store: Path) -> list[str]:
    try:
        return list(verify(store).problems)
    except JobFailed as error:
        return [str(error)]


@pytest.fixture
def cube(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RawSource:
    """The source of the earlier stores, one finished and one stopped after 8 of 12 chunks."""
    monkeypatch.setattr(RawSource, "identity", lambda _: "a cube")
    (np.arange(6 * 40 * 50, dtype="<u2") // 500).tofile(tmp_path / "cube.raw")
    with zipfile.ZipFile(EARLIER) as stores:
        stores.extractall(tmp_path)
    return open_raw(str(tmp_path / "cube.raw"), (6, 40, 50), "<u2")


def test_a_store_of_an_earlier_version_is_read(cube: RawSource, tmp_path: Path) -> None:
    target, made = tmp_path / "finished.zarr", tmp_path / "made.zarr"
    before = objects(target)
    assert verify(target, against=cube).ok
    assert gangsaw.info(target).arrays[0].n_chunks == 12
    values = np.fromfile(cube.name, "<u2").reshape(6, 40, 50)
    assert (zarr.open_group(target, mode="r")["data"][...] == values).all()  # type: ignore[index]
    assert job(cube, target, resume=True).resumed == 12
    job(cube, made)
    assert objects(made) == objects(target) == before


def test_a_job_of_an_earlier_version_goes_on(cube: RawSource, tmp_path: Path) -> None:
    target, log = tmp_path / "begun.zarr", tmp_path / "log"
    lost = target / "data" / "c" / "0" / "1" / "1"
    lost.unlink()
    shutil.copytree(target, tmp_path / "copy.zarr")
    assert job(logged(cube, log), target, resume=True).resumed == 7
    assert {starts[1] for _, starts in reads(log)} == {16, 32}
    assert objects(target) == objects(tmp_path / "finished.zarr")
