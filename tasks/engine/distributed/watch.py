"""Supervision of a job on Dask, shared by both engines.

A stopped process (SIGSTOP, a frozen host) closes no connection: it is only silent. So each request
has a time limit, and workers are judged by their heartbeats. The log follows the clock and not the
progress.
"""

from __future__ import annotations

import logging
import time
from asyncio import CancelledError
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, cast

from gangsaw.cluster.identity import identity_of
from gangsaw.cluster.interrupts import DeferredInterrupts
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.distributed.handshake import NAMED, Handshake
from gangsaw.tasks.engine.distributed.wait_policy import AGAIN_SECONDS, WaitPolicy
from gangsaw.tasks.engine.scheduling.memory import Worker

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # between two checks for lost workers while nothing finishes
TICK_SECONDS = 0.002  # between two checks for results; most find several
HEARD_SECONDS = 5.0  # time limit for an answer of the scheduler
SILENT_SECONDS = 10.0  # workers send a heartbeat every second or two
LONG_SECONDS = 300.0  # without a result, even if all workers send heartbeats
# Dask drops workers that were silent for 300 s (`worker-ttl`) and reruns their tasks. This limit
# is for schedulers configured otherwise, and for those that hang themselves.
STUCK_SECONDS = 360.0


class ResultQueue(Protocol):
    """Subset of Dask's `as_completed` that `ClusterWatch` calls."""

    def has_ready(self) -> bool:
        """Return True if a result has arrived."""


class Heartbeats:
    """Times at which the heartbeat of each worker last changed, by the clock of this process.

    The clocks of other hosts may differ, and a host that slept has not been silent.
    """

    def __init__(self) -> None:
        self._last: dict[str, tuple[object, float]] = {}  # last_seen, time of change

    def record(self, workers: Mapping[str, Mapping[str, object]]) -> None:
        """Record the workers from the scheduler's description."""
        now, before = time.monotonic(), self._last
        new = {address: (worker.get("last_seen"), now) for address, worker in workers.items()}
        is_new = {a: a not in before or before[a][0] != said for a, (said, _) in new.items()}
        self._last = {a: one if is_new[a] else before[a] for a, one in new.items()}

    def silent_workers(self, seconds: float = SILENT_SECONDS) -> dict[str, float]:
        """Return the seconds of silence, by address, of workers silent longer than `seconds`."""
        now = time.monotonic()
        spans = {address: now - since for address, (_, since) in self._last.items()}
        return {address: span for address, span in spans.items() if span > seconds}


class ClusterWatch:
    """Supervision of the scheduler and the workers while a job waits for results.

    Attributes
    ----------
    address : address of the scheduler; the client forgets it when it loses the scheduler
    wait_policy : limit of the time without a worker
    heartbeats : heartbeats of all workers
    unheard : time of the first request without an answer from the scheduler; None if it answers
    """

    def __init__(self, handshake: Handshake, worker_seconds: float) -> None:
        self.handshake, self.client = handshake, handshake.client
        self.address: str = getattr(self.client.scheduler, "address", "an unknown address")
        self.wait_policy = WaitPolicy(self.client, worker_seconds)
        self.heartbeats = Heartbeats()
        self.unheard: float | None = None
        # times of the last result, the last log line and the last check
        self.came = self.logged = self.looked = time.monotonic()

    def wait(
        self, arriving: ResultQueue, interrupts: DeferredInterrupts, look: Callable[[], None]
    ) -> None:
        """Wait for a result; call `look` every `POLL_SECONDS`, also while results arrive.

        No call of Dask may block here: it would block for ever when the last worker is lost.
        """
        while not arriving.has_ready():
            time.sleep(TICK_SECONDS)
            interrupts.raise_deferred()
            self._look_in_time(look)
        self.wait_policy.end()  # a result means that there was a worker
        self.came = time.monotonic()
        self._look_in_time(look)  # one worker may be silent while another one delivers results

    def _look_in_time(self, look: Callable[[], None]) -> None:
        if time.monotonic() - self.looked >= POLL_SECONDS:
            look()
            self.looked = time.monotonic()

    def begin(self, interrupts: DeferredInterrupts) -> dict[str, Worker]:
        """Wait for an answer of the scheduler; return all workers, admitted or not."""
        while (found := self.all_workers()) is None:
            interrupts.raise_deferred()
            time.sleep(TICK_SECONDS)
        return found

    def scheduler_id(self, interrupts: DeferredInterrupts) -> str:
        """Wait for an answer of the scheduler; return the identifier of its run."""
        while (found := self._described()) is None:
            interrupts.raise_deferred()
            time.sleep(TICK_SECONDS)
        return str(found["id"])

    def workers(self) -> dict[str, Worker] | None:
        """Return the admitted workers; None if the scheduler does not answer in time.

        Raises
        ------
        JobFailed : the client is closed, no worker can do the job, or no answer comes for long
        """
        found = self.all_workers()
        return None if found is None else self.handshake.admit(found)

    def all_workers(self) -> dict[str, Worker] | None:
        """Return all workers, admitted or not; see `workers`."""
        if (found := self._described()) is None:
            return None
        workers = dict(cast("Mapping[str, Worker]", found["workers"]))
        self.heartbeats.record(workers)
        return workers

    def _described(self) -> Mapping[str, object] | None:
        """Return the scheduler's description of itself and its workers; None if it is late.

        Raises as `workers`.
        """
        since = time.monotonic()
        try:
            found = identity_of(self.client, HEARD_SECONDS)
        except OSError as error:
            if self.client.status == "closed" and not isinstance(error, TimeoutError):
                raise lost_scheduler(self.address) from None
            self._log_unheard(since)
            return None
        except (RuntimeError, ValueError):  # closing and closed client
            raise lost_scheduler(self.address) from None
        self.unheard = None
        return found

    def check_cluster(self, left: int) -> None:
        """Check the cluster, if all its workers are alike; `left` tasks have no result yet."""
        workers = self.workers()
        if workers:
            self.wait_policy.end()
            self.log_silence(left, workers)
        elif workers is not None:
            self.wait_policy.check("no worker")

    def log_silence(self, left: int, workers: Collection[str]) -> None:
        """Log once a minute that no result or heartbeat has come; raise JobFailed if none will.

        It is a warning if workers are silent: others may only take their time.
        """
        now, silent = time.monotonic(), self.heartbeats.silent_workers()
        silent = {address: span for address, span in silent.items() if address in workers}
        if silent and now - self.came >= STUCK_SECONDS:
            self._check_stuck(now - self.came)
        if now - self.logged < AGAIN_SECONDS:
            return
        of = f"of {left} tasks on {len(workers)} workers"
        if now - self.came >= AGAIN_SECONDS:
            level = logging.WARNING if silent or now - self.came >= LONG_SECONDS else logging.INFO
            log.log(level, "no result for %.0f s %s%s", now - self.came, of, _listed(silent))
            self.logged = now
        elif max(silent.values(), default=0.0) >= AGAIN_SECONDS:
            log.warning(
                "results of other workers arrive, %d tasks are left%s", left, _listed(silent)
            )
            self.logged = now

    def _check_stuck(self, seconds: float) -> None:
        """Raise JobFailed if all workers with tasks have been silent for `LONG_SECONDS`."""
        silent = self.heartbeats.silent_workers(LONG_SECONDS)
        busy = busy_workers(self.client)
        if busy and busy <= silent.keys():
            named = {address: silent[address] for address in sorted(busy)}
            raise JobFailed(
                f"no result for {seconds:.0f} s{_listed(named)}: end these workers, or let them "
                "go on (kill -CONT)"
            )

    def _log_unheard(self, since: float) -> None:
        """Log once a minute that the scheduler does not answer; raise JobFailed in the end."""
        now = time.monotonic()
        is_new, self.unheard = self.unheard is None, since if self.unheard is None else self.unheard
        where, span = self.address, now - self.unheard
        if span >= STUCK_SECONDS:
            raise JobFailed(
                f"the scheduler at {where} has not answered for {span:.0f} s: end it and start one"
            )
        if span >= HEARD_SECONDS and (is_new or now - self.logged >= AGAIN_SECONDS):
            log.warning("the scheduler at %s has not answered for %.0f s", where, span)
            self.logged = now


def busy_workers(client: Client) -> set[str]:
    """Return the addresses of workers with tasks; empty if the scheduler does not answer."""
    with suppress(Exception):
        running = client.sync(
            client.scheduler.processing, workers=None, callback_timeout=HEARD_SECONDS
        )
        return {address for address, own in running.items() if own}
    return set()


class _KnownLoss(logging.Filter):
    """Log filter for the tracebacks of Dask's client after the loss of a scheduler is reported."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False for failed connections and for the end of reconnection attempts."""
        error = record.exc_info[1] if record.exc_info else None
        is_final = str(record.msg).startswith("Failed to reconnect")
        return not (isinstance(error, OSError | CancelledError) or is_final)


LOGS_OF_LOSS = ("distributed.client", "distributed.batched", "tornado.application")
_KNOWN_LOSS = _KnownLoss()


def lost_scheduler(address: str) -> JobFailed:
    """Return the error for a lost scheduler, and hide Dask's own messages about it."""
    for name in LOGS_OF_LOSS:
        logging.getLogger(name).addFilter(_KNOWN_LOSS)  # once, however often it is added
    return JobFailed(f"lost the scheduler at {address}: start one")


def _listed(silent: Mapping[str, float]) -> str:
    """Return a phrase with the addresses of silent workers and their seconds, "" for none."""
    if not silent:
        return ""
    named = [f"{address} for {span:.0f} s" for address, span in list(silent.items())[:NAMED]]
    more = f" and {len(silent) - NAMED} others" if len(silent) > NAMED else ""
    return f": no heartbeat from {', '.join(named)}{more}"
