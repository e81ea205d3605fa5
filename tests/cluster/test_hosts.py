"""A command on hosts of their own, with TLS: parts are killed, stopped, cut off and slow."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from faults.table import fault
from helpers.hosts import CLIENT, FIRST, SCHEDULER, missing
from helpers.hosts_site import SERVICES, Site, site_of_hosts

PARTS = "Hosts as network namespaces: a scheduler, workers with nannies, a command, TLS"
PAUSE = 12.0  # seconds; the system gives up connections after 30
HOSTS = {"worker": FIRST, "command": CLIENT, "scheduler": SCHEDULER}


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A scheduler and two workers with nannies, each on a host, and a host for the command."""
    pytest.importorskip("trustme", reason="trustme is not installed")
    if why := missing():
        pytest.skip(why)
    with site_of_hosts(tmp_path_factory.mktemp("hosts")) as made:
        yield made


@pytest.fixture
def site(hosts: Site, tmp_path: Path) -> Iterator[Site]:
    """The same for all tests, with a folder of this one; who kills parts starts them again."""
    yield replace(hosts, folder=tmp_path, looks=[])
    for host in HOSTS.values():
        hosts.network.mend(host)
    hosts.close(set(hosts.processes) - set(SERVICES))


@pytest.mark.full
def test_what_is_killed_takes_nothing_with_it(site: Site) -> None:
    """A worker, then a nanny with its worker, then the scheduler; the command begins again."""
    kills = ("worker killed", "nanny killed with its worker")
    lost = "scheduler killed and started again, the command resumed"
    with fault(PARTS, *kills, lost) as run:
        with site.compress() as run.job:
            run.job.after(50)
            os.kill(site.worker_pid(FIRST), signal.SIGKILL)
            run.job.after(100)
            site.end("second", signal.SIGKILL)
            run.job.after(150)
            site.end("scheduler", signal.SIGKILL)
            run.said = {lost: run.job.failed(), "": ""}
        told = f"gangsaw: lost the scheduler at {site.address}: start one; finished batches"
        assert run.said[lost].startswith(told)
        site.restart()
        with site.compress("--resume", "--wait-workers", "2") as run.job:
            lines = run.job.ended().splitlines()
            run.job.check_outcome()
        assert all("waiting" in line for line in lines), lines  # for workers on a busy machine


@pytest.mark.full
@pytest.mark.parametrize("host", HOSTS)
def test_a_cable_that_is_pulled_for_a_while(site: Site, host: str) -> None:
    cut = f"cable of the {host}'s host pulled for {PAUSE:g} s"
    with fault(PARTS, cut) as run, site.compress() as run.job:
        run.job.after(50)
        site.network.cut(HOSTS[host])
        run.job.allow(200)
        time.sleep(PAUSE)
        site.network.mend(HOSTS[host])
        run.job.after(200)
        run.said[""] = run.job.ended()
        run.job.check_outcome()
        assert run.said[""] == "" or "has not answered for" in run.said[""]


@pytest.mark.full
def test_a_worker_that_hangs(site: Site) -> None:
    """What it has is given to the other one, and that is said."""
    with fault(PARTS, "worker stopped (SIGSTOP) for good") as run, site.compress() as run.job:
        run.job.after(50)
        with site.stopped(site.worker_pid(FIRST)):
            run.said[""] = run.job.ended()
            run.job.check_outcome()
        assert f"from tls://{site.network.address(FIRST)}:" in run.said[""]
        assert "another one gets it, too" in run.said[""]


@pytest.mark.full
def test_a_nanny_that_hangs_holds_nothing_up(site: Site) -> None:
    with fault(PARTS, "nanny stopped (SIGSTOP) for good") as run, site.compress() as run.job:
        run.job.after(50)
        with site.stopped(site.processes["first"].pid):
            run.said[""] = run.job.ended()
            run.job.check_outcome()
        assert run.said[""] == ""


@pytest.mark.full
def test_a_scheduler_that_hangs_is_waited_for_and_told(site: Site) -> None:
    hangs = f"scheduler stopped (SIGSTOP) for {PAUSE:g} s"
    with fault(PARTS, hangs) as run, site.compress() as run.job:
        run.job.after(50)
        with site.stopped(site.processes["scheduler"].pid):
            run.job.allow(400)
            time.sleep(PAUSE)
            assert run.job.process.stderr is not None
            said = run.job.process.stderr.readline()  # comes while the scheduler hangs
        run.said[""] = said + run.job.ended()
        run.job.check_outcome()
        told = f"the scheduler at {site.address} has not answered for "
        assert run.said[""].startswith(told)
        assert run.said[""].count("\n") == 1


@pytest.mark.full
def test_a_slow_link(site: Site) -> None:
    """A fifth of a second to one of the workers and to the command, and back."""
    near = site.slow_link(FIRST)
    site.end("first", signal.SIGKILL)
    site.start_worker(FIRST, scheduler=near)
    far = site.slow_link(CLIENT)
    slow = "slow link of a worker and of the command, 0.2 s there and back"
    with fault(PARTS, slow) as run, site.compress(scheduler=far) as run.job:
        run.job.after(100)
        run.said[""] = run.job.ended()
        run.job.check_outcome()
        assert run.said[""] == ""
    site.end("first", signal.SIGKILL)
    site.start_worker(FIRST)


@pytest.mark.full
def test_strangers_are_told(site: Site) -> None:
    """One with another authority's certificate, and one without TLS."""
    wrong, plain = "certificate of another authority", "plain connection"
    with fault(PARTS, wrong, plain) as run:
        with site.compress(certificates=site.strange) as job:
            run.said[wrong] = job.failed()
        with site.compress(scheduler=site.address.replace("tls", "tcp")) as job:
            run.said[plain] = job.failed()
        assert "do not trust each other" in run.said[wrong]
        assert f"is encrypted: use {site.address}, with" in run.said[plain]
