"""A queue of SLURM that is full: jobs wait for as long as it takes, and say what they wait for."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import dask
import pytest
from distributed import Client
from helpers.faulty_jobs import faulty_job
from helpers.hang import HANG, wait_until
from helpers.slurm import Slurm, missing, slurm

from gangsaw.tasks.api import functions
from gangsaw.tasks.engine.distributed.wait_policy import WaitPolicy

if find_spec("dask_jobqueue") is None:  # to import it would take Ctrl-C from all other tests
    pytest.skip("dask-jobqueue is not installed", allow_module_level=True)
TESTS = Path(__file__).parents[1]
WAITING = "waiting for SLURM, in whose queue 1 job waits (Resources)"


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slurm]:
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
        monkeypatch.setattr("gangsaw.cluster.launchers.slurm.QUEUE_SECONDS", 1.0)
        monkeypatch.setattr("gangsaw.cluster.kinds.SAY_SECONDS", 0.5)
        monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
        with dask.config.set(settings):
            yield cluster


def others(site: Slurm) -> str:
    """Submit a job of someone else's, who wants all nodes for themselves; return its id."""
    command = ("sbatch", "--parsable", "--nodes=3", "--exclusive", "--output=/dev/null")
    return site.call(*command, "--wrap=sleep 3600")


@pytest.fixture
def wait_policies(monkeypatch: pytest.MonkeyPatch) -> list[WaitPolicy]:
    """That of each job that runs; it says at each look what it waits for."""
    made: list[WaitPolicy] = []

    def kept(client: Client, seconds: float) -> WaitPolicy:
        made.append(WaitPolicy(client, seconds))
        return made[-1]

    monkeypatch.setattr("gangsaw.tasks.engine.distributed.watch.WaitPolicy", kept)
    monkeypatch.setattr("gangsaw.tasks.engine.distributed.watch.POLL_SECONDS", 0.5)
    monkeypatch.setattr("gangsaw.tasks.engine.distributed.wait_policy.AGAIN_SECONDS", 0.0)
    return made


@pytest.mark.full
def test_jobs_wait_for_their_turn(
    site: Slurm, wait_policies: list[WaitPolicy], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Before the first worker, and after one was lost whose successor comes to a full queue."""

    def told() -> int:
        return caplog.text.count(WAITING)

    def let_in(job: str) -> None:
        wait_until(told)
        site.call("scancel", job)

    with ThreadPoolExecutor(1) as pool:
        first = others(site)
        wait_until(lambda: first in site.jobs())
        released = pool.submit(let_in, first)
        with (
            functions.workers(cluster="slurm", workers=1, silent=True) as client,
            faulty_job(tmp_path, client) as job,
        ):
            released.result()
            job.after(100)
            own, second = next(iter(site.jobs())), others(site)
            caplog.clear()
            site.call("scancel", own)
            wait_until(told)
            wait_policies[-1].seconds = 0.0  # now only the queue keeps it
            seen = told()
            wait_until(lambda: told() > seen + 1 or job.done.done())
            assert second in site.jobs()
            assert not job.done.done()
            wait_policies[-1].seconds = HANG
            site.call("scancel", second)
            job.check()
