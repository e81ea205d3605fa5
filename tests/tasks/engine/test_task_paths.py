"""Which files and folders a job asks its workers for."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from helpers.envi_files import cube, write_envi
from zarr.storage import LocalStore

from gangsaw.tasks.api import functions
from gangsaw.tasks.engine.distributed import handshake
from gangsaw.tasks.engine.distributed.handshake import Handshake
from gangsaw.tasks.engine.distributed.task_paths import paths_of_work
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs, StepOutputsTask
from gangsaw.tasks.store.objects.prefix import Prefix


@dataclass(frozen=True)
class Reading:
    """Stands for a task, or for a batch."""

    source: object
    work: object = None


def made(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).write_bytes(b"text")
    return [str(folder / name) for name in names]


def test_paths_are_found_wherever_a_task_holds_them(tmp_path: Path) -> None:
    a, b, c = made(tmp_path, "a", "b", "c")
    place = Prefix(LocalStore(tmp_path / "t.zarr"))  # that is not there yet
    task = Reading({"files": (a, [Path(b)])}, place)
    assert paths_of_work(task, [Reading(c), Reading(None)]) == (a, b, str(tmp_path), c)
    assert paths_of_work(Reading(a), iter([Reading(c)])) == (a,)


def test_what_is_no_path_of_a_job_is_not_asked_for(tmp_path: Path) -> None:
    texts = ("auto", "relative/file", "/dev/stdin", "/proc/self", "/tmp", str(tmp_path / "gone"))
    carried = np.frombuffer(str(tmp_path).encode(), np.uint8)
    assert paths_of_work(Reading(texts, carried), []) == ()
    assert paths_of_work(Reading(lambda: None, str(tmp_path)), []) == ()  # pickle refuses it


def test_folders_of_steps_are_asked_for_before_they_are_there(tmp_path: Path) -> None:
    parts = StepOutputs(tmp_path / "order" / "sign", "job")
    assert paths_of_work(StepOutputsTask("sign", parts, int, 0), range(3)) == (str(tmp_path),)


def test_an_export_asks_for_its_store_and_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gangsaw.tasks.engine.run import local, run

    scene, store = write_envi(tmp_path / "scene.hdr", cube("uint16", (3, 20, 30))), "s.zarr"
    functions.compress(str(scene), str(tmp_path / store))
    found: list[str] = []

    def one_by_one(task: object, batches: list[object], *rest: object) -> None:
        found.extend(paths_of_work(task, batches))
        local.run_one_by_one(task, batches, *rest)  # type: ignore[arg-type]

    for name in ("run_one_by_one", "run_side_by_side", "run_in_threads"):
        monkeypatch.setattr(run, name, one_by_one)
    functions.decompress(str(tmp_path / store), str(tmp_path / "out.hdr"))
    assert str(tmp_path / store) in found
    assert [path for path in found if Path(path).name.startswith((".out", "out"))]


def test_a_file_that_is_being_written_may_have_another_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = made(tmp_path, "journal")
    hands = Handshake(None, (path,))  # type: ignore[arg-type]
    own, other = (
        handshake.describe_process([path]),
        {**handshake.describe_process([path]), "seen": [7]},
    )
    assert hands._explain_difference(own, other) == ""  # type: ignore[arg-type]
    monkeypatch.setattr(handshake, "RECENT_SECONDS", 0.0)
    assert "does not see" in hands._explain_difference(own, other)  # type: ignore[arg-type]
    assert "does not see" in hands._explain_difference(own, {**own, "seen": [None]})


def test_the_sources_are_compared_and_not_the_version() -> None:
    hands, own = Handshake(None), handshake.describe_process([])  # type: ignore[arg-type]
    assert own["code"]
    assert hands._explain_difference(own, own) == ""
    said = hands._explain_difference(own, {**own, "code": "0123456789ab"})
    assert said == (
        f"has another gangsaw {own['version']} (sources 0123456789ab, here {own['code']}): "
        "install the same one there"
    )


def test_a_folder_that_a_worker_may_not_enter_is_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of another user: its answer is that it does not see the path, and no error."""

    def stat(path: Path, **_: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", stat)
    assert handshake.describe_process(["/home/other/scene.hdr"])["seen"] == [None]
