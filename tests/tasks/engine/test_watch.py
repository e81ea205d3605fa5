"""What a job says, and when it gives up, while its scheduler or its workers hang."""

from __future__ import annotations

import logging
import signal
from asyncio import CancelledError
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gangsaw.cluster.interrupts import DeferredInterrupts, defer_interrupts
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.distributed import wait_policy, watch
from gangsaw.tasks.engine.distributed.handshake import Handshake
from gangsaw.tasks.engine.distributed.watch import (
    LOGS_OF_LOSS,
    ClusterWatch,
    Heartbeats,
    lost_scheduler,
)
from gangsaw.tasks.engine.run.graph import scheduler_id

A, B = "tcp://10.0.0.1:1", "tcp://10.0.0.2:1"
Beats = dict[str, float]  # the last heartbeat of each worker, by the scheduler's clock


class Clock:
    """Stands for the module `time`."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(watch, "time", clock)
    monkeypatch.setattr(wait_policy, "time", clock)
    return clock


class Site:
    """A client of a scheduler that answers, or does not within the time limit."""

    status, cluster = "running", None
    answers = True
    refused = 0  # requests that it does not answer in time, before it does

    def __init__(self, clock: Clock, beats: Beats, busy: tuple[str, ...] = ()) -> None:
        self.clock, self.beats, self.busy = clock, beats, busy
        self.scheduler = SimpleNamespace(address="tcp://h:1", identity=self.identity)
        self.scheduler.processing = lambda: {a: ["key"] * (a in busy) for a in beats}

    def identity(self) -> dict[str, object]:
        return {
            "id": "Scheduler-1",
            "workers": {a: {"last_seen": at, "name": a} for a, at in self.beats.items()},
        }

    def scheduler_info(self) -> None: ...

    def sync(self, ask: Callable[[], Any], callback_timeout: float, **_: object) -> Any:
        self.refused -= 1
        if not self.answers or self.refused >= 0:
            self.clock.now += callback_timeout
            raise TimeoutError
        return ask()


def watch_of(site: Site) -> ClusterWatch:
    handshake = Handshake(site)  # type: ignore[arg-type]
    handshake._queried |= {A, B}
    return ClusterWatch(handshake, 60.0)


def test_silence_is_counted_by_the_clock_of_this_process(clock: Clock) -> None:
    beats = Heartbeats()
    for clock.now in range(0, 100, 2):  # type: ignore[assignment]
        beats.record({A: {"last_seen": 7e9 + clock.now}, B: {"last_seen": min(clock.now, 40.0)}})
    assert beats.silent_workers() == {B: 58.0}
    clock.now = 1000.0  # nobody looked meanwhile, and A was not silent
    beats.record({A: {"last_seen": 7.1e9}, B: {"last_seen": 40.0}})
    assert beats.silent_workers().keys() == {B}
    beats.record({A: {"last_seen": 7.1e9}})
    assert beats.silent_workers() == {}


def test_a_scheduler_that_hangs_is_told_once_a_minute_and_given_up(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    site = Site(clock, {A: 0.0})
    watched = watch_of(site)
    site.answers = False
    with pytest.raises(JobFailed, match=r"at tcp://h:1 has not answered for 360 s: end it"):
        watched.begin(DeferredInterrupts())
    spans = [line.removeprefix("the scheduler at tcp://h:1 has not ") for line in caplog.messages]
    assert spans == [f"answered for {seconds} s" for seconds in (5, 65, 125, 185, 245, 305)]


def test_an_interrupt_ends_the_wait_for_a_scheduler(clock: Clock) -> None:
    site = Site(clock, {})
    site.answers = False

    def interrupted() -> None:
        with defer_interrupts() as outer:
            signal.raise_signal(signal.SIGINT)
            with defer_interrupts() as interrupts:  # as where samples are read in a job
                assert interrupts is outer
                watch_of(site).begin(interrupts)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert clock.now == watch.HEARD_SECONDS


def test_silent_workers_are_told_once_a_minute(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    watched = watch_of(site := Site(clock, {A: 0.0, B: 0.0}, busy=(A, B)))
    caplog.set_level(logging.INFO, "gangsaw")
    for clock.now in range(0, 290, 2):  # type: ignore[assignment]
        site.beats |= {A: clock.now} if clock.now < 62 else {}
        site.beats |= {B: clock.now}
        watched.check_cluster(3)
    pairs = [(record.levelname, record.getMessage()) for record in caplog.records]
    said = "no result for {} s of 3 tasks on 2 workers"
    assert pairs == [
        ("INFO", said.format(60)),
        *(
            ("WARNING", f"{said.format(n)}: no heartbeat from {A} for {n - 60} s")
            for n in (120, 180, 240)
        ),
    ]


class Results:
    """Results of which one arrives every `seconds`, of a worker that never stops."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self.clock, self.seconds, self.due = clock, seconds, seconds

    def has_ready(self) -> bool:
        return self.clock.now >= self.due

    def take(self) -> None:
        self.due = self.clock.now + self.seconds


@pytest.mark.parametrize("seconds", [0.0, 0.5, 3.0, 30.0])
def test_a_silent_worker_is_told_while_another_one_delivers(
    clock: Clock, caplog: pytest.LogCaptureFixture, seconds: float
) -> None:
    watched = watch_of(site := Site(clock, {A: 0.0, B: 0.0}))
    caplog.set_level(logging.INFO, "gangsaw")
    results = Results(clock, seconds)
    while clock.now < 190:
        site.beats[B] = clock.now
        watched.wait(results, DeferredInterrupts(), lambda: watched.check_cluster(3))
        clock.now += 0.25  # the work on a result
        results.take()
    said = [(record.levelname, record.getMessage()) for record in caplog.records]
    start = f"results of other workers arrive, 3 tasks are left: no heartbeat from {A} for "
    assert [level for level, _ in said] == ["WARNING"] * 3
    assert all(line.startswith(start) for _, line in said)
    spans = [int(line.removeprefix(start).removesuffix(" s")) for _, line in said]
    assert all(60 * n <= span <= 60 * n + 9 for n, span in enumerate(spans, 1))


def test_nothing_is_told_while_all_workers_deliver(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    watched = watch_of(site := Site(clock, {A: 0.0, B: 0.0}))
    results = Results(clock, 0.5)
    while clock.now < 190:
        site.beats |= {A: clock.now, B: clock.now}
        watched.wait(results, DeferredInterrupts(), lambda: watched.check_cluster(3))
        results.take()
    assert caplog.records == []


@pytest.mark.parametrize("refused", [0, 1, 7, 50])
def test_a_scheduler_under_load_is_asked_again_for_its_id(clock: Clock, refused: int) -> None:
    site = Site(clock, {A: 0.0})
    site.refused = refused
    assert scheduler_id(site) == "Scheduler-1"  # type: ignore[arg-type]
    assert clock.now >= refused * watch.HEARD_SECONDS


def test_a_scheduler_that_hangs_has_no_id(clock: Clock) -> None:
    site = Site(clock, {A: 0.0})
    site.answers = False
    with pytest.raises(JobFailed, match=r"at tcp://h:1 has not answered for 360 s: end it"):
        scheduler_id(site)  # type: ignore[arg-type]


def looked(clock: Clock, site: Site) -> float:
    """Look at two workers for 1000 seconds, the first one silent; return when it ends."""
    watched = watch_of(site)
    for clock.now in range(0, 1000, 2):  # type: ignore[assignment]
        site.beats[B] = clock.now
        watched.check_cluster(3)
    return clock.now


def test_a_job_ends_where_all_that_have_its_tasks_are_silent(clock: Clock) -> None:
    """Dask gives them up before that, unless it is told not to."""
    said = f"^no result for 360 s: no heartbeat from {A} for 360 s: end these workers"
    with pytest.raises(JobFailed, match=said):
        looked(clock, Site(clock, {A: 0.0, B: 0.0}, busy=(A,)))


def test_a_job_goes_on_where_one_that_has_its_tasks_is_heard(clock: Clock) -> None:
    assert looked(clock, Site(clock, {A: 0.0, B: 0.0}, busy=(A, B))) == 998.0


def test_a_lost_scheduler_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Dask's client would log a traceback of each try to connect again."""
    log = logging.getLogger("distributed.client")

    def tries() -> None:
        for error in (ConnectionRefusedError(), CancelledError(), ValueError("another thing")):
            log.error("", exc_info=error)
        log.error("Failed to reconnect to scheduler after %.2f seconds, closing client", 30)
        log.error("something else")

    tries()
    assert len(caplog.records) == 5
    caplog.clear()
    try:
        for _ in range(2):
            assert str(lost_scheduler(A)) == f"lost the scheduler at {A}: start one"
        tries()
    finally:
        for name in LOGS_OF_LOSS:
            logging.getLogger(name).removeFilter(watch._KNOWN_LOSS)
    assert [bool(record.exc_info) for record in caplog.records] == [True, False]


def test_a_client_that_is_closed_is_lost(clock: Clock) -> None:
    """The message has the address that the client has forgotten."""
    site = Site(clock, {})
    watched = watch_of(site)
    site.scheduler = None  # type: ignore[assignment]
    with pytest.raises(JobFailed, match="lost the scheduler at tcp://"):
        watched.check_cluster(1)
