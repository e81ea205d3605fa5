"""Jobs on a real SLURM of three nodes, through dask-jobqueue, and what may happen to them there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
import pytest
from helpers.envi_files import cube, write_envi
from helpers.faulty_jobs import faulty_job, wait_until
from helpers.job_data import objects
from helpers.slurm import Slurm, missing, slurm

import gangsaw
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks import api

pytest.importorskip("dask_jobqueue", reason="dask-jobqueue is not installed")
TESTS = Path(__file__).parents[1]
PAUSE = 0.03  # seconds per chunk of a job that is disturbed: it takes six on two workers


@pytest.fixture(scope="module")
def site() -> Iterator[Slurm]:
    """SLURM, with this process as its user; a socket's path is short, so not in pytest's folder."""
    if why := missing():
        pytest.skip(why)
    with TemporaryDirectory(prefix="slurm") as folder, slurm(Path(folder)) as cluster:
        settings = {
            "gangsaw.slurm.memory": "1GiB",
            "gangsaw.slurm.interface": "lo",
            "gangsaw.slurm.folder": f"{folder}/gangsaw",
            "gangsaw.slurm.local-folder": f"{folder}/local",
            "gangsaw.slurm.lost-seconds": 1,
            "gangsaw.slurm.prologue": [f"export PYTHONPATH={TESTS}"],
        }
        with pytest.MonkeyPatch.context() as patch, dask.config.set(settings):
            patch.setattr("gangsaw.cluster.slurm.QUEUE_SECONDS", 2.0)
            patch.setattr("gangsaw.cluster.kinds.SAY_SECONDS", 1.0)
            patch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
            yield cluster


def all_jobs_end(site: Slurm) -> None:
    wait_until(lambda: not site.call("squeue", "-h"))


def test_a_job_gives_the_bytes_that_it_gives_here(site: Slurm, tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube("uint16", (5, 40, 33)))
    chunks = {"y": 20, "x": 17}
    with api.workers(cluster="slurm", workers=2, wait_workers=2) as client:
        assert client.scheduler.address.startswith("tls://")
        assert sorted(set(site.jobs().values())) == ["n1"]  # two cores
        gangsaw.compress(scene, tmp_path / "there.zarr", chunks=chunks, client=client)
    all_jobs_end(site)
    assert not list(Path(site.folder, "gangsaw").glob("tls-*"))
    gangsaw.compress(scene, tmp_path / "here.zarr", chunks=chunks)
    assert objects(tmp_path / "there.zarr") == objects(tmp_path / "here.zarr")


def test_lost_jobs_are_replaced_and_nothing_is_lost(site: Slurm, tmp_path: Path) -> None:
    """One is cancelled, the controller dies, and the other is put back into the queue."""
    with (
        gangsaw.cluster.connect("slurm", workers=2, wait_workers=2) as client,
        faulty_job(tmp_path, client, PAUSE) as job,
    ):
        first, second = site.jobs()
        job.after(40)
        site.call("scancel", first)
        site.kill_controller()
        site.start_controller()
        before = job.after(100)
        site.call("scontrol", "requeue", second)
        job.check(before)
    all_jobs_end(site)


@pytest.mark.slow
def test_a_node_that_dies_takes_nothing_with_it(site: Slurm, tmp_path: Path) -> None:
    """All its workers are gone, and others start on the nodes that are left."""
    with (
        gangsaw.cluster.connect("slurm", workers=2, wait_workers=2) as client,
        faulty_job(tmp_path, client, PAUSE) as job,
    ):
        (node,) = set(site.jobs().values())
        before = job.after(40)
        site.kill_node(node)
        job.check(before)
        assert node not in site.jobs().values()
    site.start_node(node)
    wait_until(site.up)


@pytest.mark.slow
def test_workers_end_before_their_walltime_and_new_ones_go_on(site: Slurm, tmp_path: Path) -> None:
    with (
        dask.config.set({"gangsaw.slurm.walltime": "1"}),
        gangsaw.cluster.connect("slurm", workers=2, wait_workers=2) as client,
        faulty_job(tmp_path, client, 0.4) as job,
    ):
        first = site.jobs()
        wait_until(lambda: site.jobs().keys().isdisjoint(first))
        before = job.after(41)
        job.check(before)
    states = [site.call("scontrol", "show", "job", name) for name in first]
    assert all("JobState=COMPLETED" in state for state in states)  # not TIMEOUT


def test_jobs_that_end_at_once_are_told(site: Slurm, tmp_path: Path) -> None:
    """As where the nodes have no such Python: submitting more of them is of no use."""
    site_without = {"gangsaw.slurm.prologue": ["exit 1"], "gangsaw.slurm.maximum-jobs": 6}
    message = r"6 jobs in a row ended before they had a worker: see .*logs"
    with (
        dask.config.set(site_without),
        pytest.raises(JobFailed, match=message),
        api.workers(cluster="slurm", workers=6, silent=True),
    ):
        pass
    all_jobs_end(site)


def test_more_jobs_come_while_there_is_work_for_them(site: Slurm, tmp_path: Path) -> None:
    with (
        dask.config.set({"gangsaw.slurm.maximum-jobs": 2}),
        gangsaw.cluster.connect("slurm") as client,
        faulty_job(tmp_path, client, PAUSE) as job,
    ):
        assert len(site.jobs()) == 1
        wait_until(lambda: len(site.jobs()) == 2)
        job.check(job.after(100))
