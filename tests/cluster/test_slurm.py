"""Jobs on a real SLURM of three nodes, through dask-jobqueue, and what may happen to them there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
import pytest
from distributed import Client
from faults.table import fault
from helpers.faulty_jobs import faulty_job
from helpers.hang import wait_until
from helpers.slurm import Slurm, missing, slurm

import gangsaw
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.api import functions

if find_spec("dask_jobqueue") is None:  # to import it would take Ctrl-C from all other tests
    pytest.skip("dask-jobqueue is not installed", allow_module_level=True)
TESTS = Path(__file__).parents[1]
PARTS = "SLURM: a controller and three nodes, workers as its jobs"


@pytest.fixture(scope="module")
def site() -> Iterator[Slurm]:
    """SLURM, with this process as its user; a socket's path is short, so not in pytest's folder."""
    if why := missing():
        pytest.skip(why)
    with TemporaryDirectory(prefix="slurm") as folder, slurm(Path(folder)) as cluster:
        settings = {
            "gangsaw.slurm.maximum-jobs": 2,
            "gangsaw.slurm.memory": "1GiB",
            "gangsaw.slurm.interface": "lo",
            "gangsaw.slurm.folder": f"{folder}/gangsaw",
            "gangsaw.slurm.local-folder": f"{folder}/local",
            "gangsaw.slurm.lost-seconds": 1,
            "gangsaw.slurm.prologue": [f"export PYTHONPATH={TESTS}"],
        }
        with pytest.MonkeyPatch.context() as patch, dask.config.set(settings):
            patch.setattr("gangsaw.cluster.launchers.slurm.QUEUE_SECONDS", 2.0)
            patch.setattr("gangsaw.cluster.kinds.SAY_SECONDS", 1.0)
            patch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
            yield cluster


def all_jobs_end(site: Slurm) -> None:
    wait_until(lambda: not site.call("squeue", "-h"))


def is_requeued(site: Slurm) -> bool:
    """Put a job that runs back into the queue, if there is one that the controller knows well."""
    for job in site.jobs():
        with suppress(AssertionError):
            site.call("scontrol", "requeue", job)
            return True
    return False


def with_workers(client: Client) -> int:
    return len(client.scheduler_info()["workers"])


def test_jobs_come_when_there_is_work_and_lost_ones_are_replaced(
    site: Slurm, tmp_path: Path
) -> None:
    """One is cancelled, then the controller dies, and then the other goes back to the queue."""
    names = (
        "job cancelled (scancel)",
        "controller killed and started",
        "job put back to the queue",
    )
    with (
        fault(PARTS, *names) as run,
        functions.workers(cluster="slurm", silent=True) as client,
        faulty_job(tmp_path, client) as job,
    ):
        run.job = job
        assert client.scheduler.address.startswith("tls://")
        assert len(site.jobs()) == 1
        wait_until(lambda: with_workers(client) == 2)
        first = next(iter(site.jobs()))
        job.after(50)
        site.call("scancel", first)
        site.kill_controller()
        site.start_controller()
        job.after(100)
        wait_until(lambda: is_requeued(site))
        job.check()
    all_jobs_end(site)
    assert not list(Path(site.folder, "gangsaw").glob("tls-*"))


@pytest.mark.full
def test_a_node_that_dies_takes_nothing_with_it(site: Slurm, tmp_path: Path) -> None:
    """All its workers are gone, and others start on the nodes that are left."""
    with (
        fault(PARTS, "node killed with all that runs there") as run,
        gangsaw.cluster.connect("slurm", workers=2, wait_workers=2) as client,
        faulty_job(tmp_path, client) as job,
    ):
        run.job = job
        (node,) = set(site.jobs().values())
        job.after(50)
        site.kill_node(node)
        job.check()
        assert node not in site.jobs().values()
    site.start_node(node)
    wait_until(site.up)


@pytest.mark.full
def test_workers_end_before_their_walltime_and_new_ones_go_on(site: Slurm, tmp_path: Path) -> None:
    with (
        fault(PARTS, "walltime of all jobs reached") as run,
        dask.config.set({"gangsaw.slurm.walltime": "1"}),
        gangsaw.cluster.connect("slurm", workers=2, wait_workers=2) as client,
        faulty_job(tmp_path, client, 0.1) as job,
    ):
        run.job = job
        first = site.jobs()
        job.after(150)
        wait_until(lambda: site.jobs().keys().isdisjoint(first))
        job.check()
    states = [site.call("scontrol", "show", "job", name) for name in first]
    assert not any("JobState=TIMEOUT" in state for state in states)


@pytest.mark.full
def test_jobs_that_end_at_once_are_told(site: Slurm) -> None:
    """As where the nodes have no such Python: submitting more of them is of no use."""
    site_without = {"gangsaw.slurm.prologue": ["exit 1"], "gangsaw.slurm.maximum-jobs": 6}
    message = r"\d+ jobs in a row ended before they had a worker: see .*logs"
    with fault(PARTS, "jobs that end at once") as run:
        with (
            dask.config.set(site_without),
            pytest.raises(JobFailed, match=message) as failed,
            functions.workers(cluster="slurm", workers=6, silent=True),
        ):
            pass
        run.said[""] = str(failed.value)
    all_jobs_end(site)
