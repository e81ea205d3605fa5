"""What is rehearsed writes nothing, also where a job forgets to say where it begins to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gangsaw
from gangsaw.tasks.engine.report.dry_run import Depth, plan_job
from gangsaw.tasks.formats.exporting.atomic import write_whole_files, write_whole_folder
from gangsaw.tasks.store.objects.files import write_file


def _files(target: Path) -> None:
    with write_whole_files([target], overwrite=False) as (part,):
        part.write_bytes(b"x")


def _folder(target: Path) -> None:
    with write_whole_folder(target, "mark", overwrite=False) as part:
        part.mkdir()


@pytest.mark.parametrize("job", [_files, _folder, lambda path: write_file(path, b"x")])
def test_a_job_that_does_not_stop_its_rehearsal_is_told(
    job: Callable[[Path], None], tmp_path: Path
) -> None:
    with pytest.raises(RuntimeError, match=r"a\.tsv would have been written by a rehearsal"):
        plan_job(lambda: job(tmp_path / "a.tsv"))
    assert not [*tmp_path.iterdir()]
    job(tmp_path / "a.tsv")
    assert [path.name for path in tmp_path.iterdir()] == ["a.tsv"]


def test_a_rehearsal_logs_no_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "gangsaw")
    samples = np.zeros((4, 20, 30), "u2")
    plan_job(lambda: gangsaw.compress(samples, tmp_path / "a.zarr"), Depth.CHECK)
    assert not caplog.messages  # what is checked before a cluster starts is told by the job
    plan = plan_job(lambda: gangsaw.compress(samples, tmp_path / "a.zarr"))
    assert plan is not None
    assert plan.n_chunks == 1
    assert not [line for line in caplog.messages if "failed" in line]
    gangsaw.compress(samples, tmp_path / "a.zarr")
    assert [line for line in caplog.messages if line.startswith("compress done after")]
