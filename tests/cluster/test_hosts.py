"""A command on hosts of their own, with TLS: parts are killed, stopped, cut off and slow."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.hosts import CLIENT, FIRST, SCHEDULER, SECOND, missing
from helpers.hosts_site import Site, site_of_hosts

PAUSE = 12.0  # seconds; the system gives up connections after 30


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A scheduler and two workers with nannies, each on a host, and a host for the command."""
    pytest.importorskip("trustme", reason="trustme is not installed")
    if why := missing():
        pytest.skip(why)
    with site_of_hosts(tmp_path) as made:
        yield made


def test_what_is_killed_takes_nothing_with_it(site: Site) -> None:
    """A worker, then a nanny with its worker, then the scheduler; the command begins again."""
    with site.compress() as job:
        job.after(50)
        os.kill(site.worker_pid(FIRST), signal.SIGKILL)
        job.after(100)
        site.end("second", signal.SIGKILL)
        job.after(150)
        site.end("scheduler", signal.SIGKILL)
        said = job.failed()
    assert said.startswith(f"gangsaw: lost the scheduler at {site.address}: start one; finished")
    site.restart()
    with site.compress("--resume", "--wait-workers", "2") as job:
        assert job.ended() == ""
        job.check_outcome()


@pytest.mark.slow
@pytest.mark.parametrize("host", [FIRST, CLIENT, SCHEDULER], ids=["worker", "client", "scheduler"])
def test_a_cable_that_is_pulled_for_a_while(site: Site, host: int) -> None:
    with site.compress() as job:
        job.after(50)
        site.network.cut(host)
        job.allow(200)
        time.sleep(PAUSE)
        site.network.mend(host)
        job.after(200)
        said = job.ended()
        job.check_outcome()
    assert said == "" or "has not answered for" in said


@pytest.mark.slow
def test_a_worker_that_hangs(site: Site) -> None:
    """What it has is given to the other one, and that is said."""
    with site.compress() as job:
        job.after(50)
        with site.stopped(site.worker_pid(FIRST)):
            said = job.ended()
            job.check_outcome()
    assert f"from tls://{site.network.address(FIRST)}:" in said
    assert "another one gets it, too" in said


@pytest.mark.slow
def test_a_nanny_that_hangs_holds_nothing_up(site: Site) -> None:
    with site.compress() as job:
        job.after(50)
        with site.stopped(site.processes["first"].pid):
            assert job.ended() == ""
            job.check_outcome()


@pytest.mark.slow
def test_a_scheduler_that_hangs_is_waited_for_and_told(site: Site) -> None:
    with site.compress() as job:
        job.after(50)
        with site.stopped(site.processes["scheduler"].pid):
            job.allow(400)
            time.sleep(PAUSE)
        said = job.ended()
        job.check_outcome()
    assert said.startswith(f"the scheduler at {site.address} has not answered for ")
    assert said.count("\n") == 1


@pytest.mark.slow
def test_a_slow_link(site: Site) -> None:
    """A fifth of a second to one of the workers and to the command, and back."""
    near = site.slow_link(FIRST)
    site.end("first", signal.SIGKILL)
    site.start_worker(FIRST, scheduler=near)
    with site.compress("--wait-workers", "2", scheduler=site.slow_link(CLIENT)) as job:
        job.after(100)
        assert job.ended() in ("", "1 of 2 workers are there: waiting for the others\n")
        job.check_outcome()


@pytest.mark.slow
def test_strangers_are_told(site: Site) -> None:
    """One with another authority's certificate, and one without TLS."""
    with site.compress(certificates=site.strange) as job:
        assert "do not trust each other" in job.failed()
    plain = site.address.replace("tls", "tcp")
    with site.compress(scheduler=plain) as job:
        assert f"is encrypted: say {site.address}, with" in job.failed()
    assert site.processes[name_of(SECOND)].poll() is None


def name_of(host: int) -> str:
    return {SCHEDULER: "scheduler", FIRST: "first", SECOND: "second"}[host]
