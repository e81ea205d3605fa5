"""How long a job goes on without a worker, and what it says meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.distributed import wait_policy
from gangsaw.tasks.engine.distributed.wait_policy import WaitPolicy

LIMIT = 60.0
QUEUED = "SLURM, in whose queue 1 job waits (Resources)"


class Clock:
    """Stands for the module `time`."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(wait_policy, "time", clock)
    return clock


def client_of(cluster: object) -> Any:
    return SimpleNamespace(cluster=cluster, scheduler=SimpleNamespace(address="tcp://h:1"))


def test_without_a_queue_there_is_a_limit(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    waits = WaitPolicy(client_of(None), LIMIT)
    for clock.now in (0.0, LIMIT):
        waits.check("no worker")
    assert caplog.messages == ["no worker at tcp://h:1: waiting up to 60 s for one"]
    clock.now = LIMIT + 1
    with pytest.raises(JobFailed, match="no worker for 60 s: start one"):
        waits.check("no worker")


def test_a_worker_in_between_gives_the_whole_time_again(clock: Clock) -> None:
    waits = WaitPolicy(client_of(None), LIMIT)
    waits.check("no worker")
    waits.end()
    for clock.now in (LIMIT + 1, 2 * LIMIT):
        waits.check("no worker")


def test_a_queue_takes_as_long_as_it_takes_and_is_told_once_a_minute(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = SimpleNamespace(queued=QUEUED, failure="")
    waits = WaitPolicy(client_of(cluster), LIMIT)
    for clock.now in range(0, 3600, 2):  # type: ignore[assignment]
        waits.check("no worker")
    assert caplog.messages == [f"no worker at tcp://h:1: waiting for {QUEUED}"] * 60
    cluster.queued = ""  # its job runs, and its worker has to come as any other
    clock.now += LIMIT + 3
    with pytest.raises(JobFailed, match="no worker for 60 s"):
        waits.check("no worker")


def test_a_cluster_that_gave_up_is_believed(clock: Clock) -> None:
    cluster = SimpleNamespace(queued=QUEUED, failure="6 jobs in a row ended")
    with pytest.raises(JobFailed, match="6 jobs in a row ended"):
        WaitPolicy(client_of(cluster), LIMIT).check("no worker")
