"""The tasks in flight: batches in a sliding window of futures, no graph over the chunks.

A graph over a million chunks would have to be optimised before the first one runs, and each future
has its messages. So a future takes several batches where they are short.
"""

from __future__ import annotations

import logging
import math
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from distributed import KilledWorker, as_completed
from distributed.protocol.pickle import loads

from gangsaw.cluster.interrupts import Waiting
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.engine.batches import Done, do_batches
from gangsaw.tasks.engine.failure import ChunkFailed
from gangsaw.tasks.engine.flying.calls import packed
from gangsaw.tasks.engine.flying.handshake import Handshake, workers_of
from gangsaw.tasks.engine.flying.late import Turnaround
from gangsaw.tasks.engine.flying.patience import Patience
from gangsaw.tasks.engine.lazy import Supply
from gangsaw.tasks.engine.pace import Pace
from gangsaw.tasks.engine.pools import Device, Pool, Workers, make_pools, most_carried
from gangsaw.tasks.engine.tally import Tally
from gangsaw.tasks.engine.work import Task, carried_bytes

if TYPE_CHECKING:
    from distributed import Client, Future

log = logging.getLogger(__name__)

POLL_SECONDS = 2.0  # between two checks for lost workers while nothing finishes
TICK_SECONDS = 0.002  # between two checks for results; most find several
HEARD_SECONDS = 5.0  # within which a scheduler answers that does not hang
MOST_FAILED = 100  # chunks, while the others go on
MOST_STRANGE = 1000  # tasks that strangers may have had when they are found

Key = tuple[str, int]
BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")


class How(Protocol):
    """What is asked of `window.Options`."""

    @property
    def resources(self) -> Mapping[str, float]:
        """What each task takes of a worker's resources."""

    @property
    def retries(self) -> int:
        """How often a single batch is tried again after a transient error."""

    @property
    def worker_seconds(self) -> float:
        """How long to wait for a first or a new worker that is not in a queue."""

    @property
    def device(self) -> Device:
        """Where batches are done."""


@dataclass(eq=False)
class _Flight(Generic[BatchT]):
    """What a task does.

    Attributes
    ----------
    pool : that it counts in
    batches : that it was given
    since : when that was
    futures : of it, and of copies for other workers where it is late
    asked : how often it was found late, and one
    """

    pool: Pool
    batches: Sequence[BatchT]
    since: float = field(default_factory=time.monotonic)
    futures: list[Future] = field(default_factory=list)
    asked: int = 1

    def __str__(self) -> str:
        first, last = str(self.batches[0]), str(self.batches[-1])
        return first if len(self.batches) == 1 else f"{first} .. {last}"


class InFlight(Generic[BatchT, ResultT]):
    """The futures in flight. Results are fetched in the background, many round trips at once."""

    def __init__(
        self,
        handshake: Handshake,
        task: Task[BatchT, ResultT],
        options: How,
        supply: Supply[BatchT],
        interrupts: Waiting,
        tally: Tally,
    ) -> None:
        self.tally = tally
        self.handshake, self.task, self.options = handshake, task, options
        self.client = client = handshake.client
        self.interrupts = interrupts
        self.supply = supply
        self.left = supply.total  # batches that no task has, where that is known
        self.again: deque[Sequence[BatchT]] = deque()  # that tasks gave back
        self.alone: deque[BatchT] = deque()  # the same after a transient error
        self.token = uuid.uuid4().hex[:12]
        self.flying: dict[Future, _Flight[BatchT]] = {}
        self.arriving = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        n_batches = getattr(task, "device_batches", 1)
        carried = most_carried(carried_bytes(task))
        self.pools = make_pools(options.device, n_batches, options.resources, carried)
        self.submitted = 0
        self.patience = Patience(client, options.worker_seconds)
        self.looked = -math.inf  # when it last saw the workers
        self.missing: Pool | None = None  # has something in flight, and no worker
        self.workers: Workers = {}  # admitted, when they were last seen
        self.is_drained = False  # all batches are in flight
        self.turnaround = Turnaround()
        self.failed: list[ChunkFailed] = []  # for good, while the others go on
        self.strange = 0  # tasks that workers could not load
        self.is_unheard = False  # the scheduler does not answer

    def run(self, on_done: Callable[[BatchT, ResultT], None]) -> None:
        """Do all batches; see `window.run`."""
        try:
            while self.fill():
                for future, done in self.arrived():
                    if (flight := self.flying.get(future)) is None:
                        continue  # a copy of it came before
                    if self.met_stranger(done):
                        self.land(flight)
                        self.take_back(flight.batches, None)
                        continue
                    self.tally.failed(_failures(done))
                    self.check(future, done)
                    self.land(flight)
                    n = len(done.results)
                    flight.pool.pace.saw(n, done.seconds)
                    self.tally.by(done.worker, flight.pool.device, done.seconds)
                    for batch, result in zip(flight.batches[:n], done.results, strict=True):
                        self.interrupts.let_in()  # short batches come by the hundred
                        on_done(batch, result)
                        self.tally.landed()
                    self.take_back(flight.batches[n:], done.error)
            self.check_failed()
        finally:
            self.cancel()

    def fill(self) -> bool:
        """Submit in turn to each pool until all are full; return whether anything is in flight."""
        if time.monotonic() - self.looked > POLL_SECONDS:
            self.has_workers()
        while free := [pool for pool in self.pools if pool.has_room]:
            for pool in free:
                batches_of_task = self.next(pool.share(self.left))
                self.is_drained = not batches_of_task
                if self.is_drained:
                    return bool(self.flying)
                self.submit(_Flight(pool, batches_of_task))
        return bool(self.flying)

    def next(self, n: int) -> Sequence[BatchT]:
        """Return what the next task gets: what was given back comes first."""
        if self.alone:
            return (self.alone.popleft(),)
        if self.again:
            some = self.again.popleft()
            if len(some) > n:
                self.again.appendleft(some[n:])
            return some[:n]
        with self.interrupts.at_once():
            return self.supply.take(n)

    def take_back(self, undone: Sequence[BatchT], error: ChunkFailed | None) -> None:
        """Take batches that a task did not do; the one that failed goes alone: Dask retries it.

        It does not where it failed for good.
        """
        if error is not None:
            failed, undone = undone[0], undone[1:]
            if error.passing:
                log.info("tried again: %s", error)
                self.alone.append(failed)
            else:
                self.failed.append(error)
        if self.left is not None:
            self.left += len(undone) + (error is not None and error.passing)
        if undone:
            self.again.append(undone)

    def submit(self, flight: _Flight[BatchT]) -> None:
        """Submit a task that is new."""
        self.left = None if self.left is None else self.left - len(flight.batches)
        pool = flight.pool
        own = pool.addresses or (tuple(self.workers) if self.handshake.left_out else ())
        # used if these are gone before it has run, unless others are strangers
        self.start(flight, own, allow_others=bool(pool.addresses) and not self.handshake.left_out)

    def start(self, flight: _Flight[BatchT], workers: Collection[str], allow_others: bool) -> None:
        """Let Dask run a task, or a copy of one, on these workers; none named are all."""
        pool = flight.pool
        most_seconds = 2 * Pace.task_seconds(pool.threads)
        work = partial(do_batches, self.task, pool.device, flight.batches, most_seconds)
        call, buffers = packed(work)
        future = self.client.submit(
            loads,
            call,
            buffers=buffers,
            key=(f"{self.task.name}-{self.token}", self.submitted),
            pure=False,
            retries=self.options.retries,
            resources=dict(pool.resources) or None,
            workers=list(workers) or None,
            allow_other_workers=allow_others,
        )
        self.submitted += 1
        pool.flying += 1
        flight.futures.append(future)
        self.flying[future] = flight
        self.arriving.add(future)

    def land(self, flight: _Flight[BatchT]) -> None:
        """Record that a task ended; cancel its copies."""
        if flight.asked == 1:  # else it says how long one waits for a worker that hangs
            self.turnaround.saw(time.monotonic() - flight.since)
        flight.pool.flying -= len(flight.futures)
        for future in flight.futures:
            del self.flying[future]
        if late := [future for future in flight.futures if not future.done()]:
            self.client.cancel(late, force=True)

    def arrived(self) -> list[tuple[Future, Done[ResultT]]]:
        """Wait for a result; return all that are there by then.

        No call of Dask may block here: it would block for ever when the last worker is lost.
        """
        polled = time.monotonic()
        while not self.arriving.has_ready():
            time.sleep(TICK_SECONDS)
            self.interrupts.let_in()
            if time.monotonic() - polled >= POLL_SECONDS:
                self.look_for_workers()
                self.look_for_late()
                polled = time.monotonic()
        self.patience.end()  # a result means that there was a worker
        found: list[tuple[Future, Done[ResultT]]] = self.arriving.next_batch(block=False)
        return found

    def look_for_workers(self) -> None:
        """Say that there is no worker, and what is waited for; raise JobFailed where none comes."""
        if self.has_workers():
            self.patience.end()
        else:
            self.patience.ask(f"no {self.missing}")

    def look_for_late(self) -> None:
        """Give late tasks to other workers, too, when there is nothing else that these can do."""
        now, flights = time.monotonic(), set(self.flying.values())
        late = [f for f in flights if self.turnaround.is_late(now - f.since, f.asked)]
        if not late or not (self.is_drained or len(late) == len(flights)):
            return
        having = _having(self.client, [f.key for flight in late for f in flight.futures])
        for flight in late:
            flight.asked += 1
            own = set().union(*(having[f.key] for f in flight.futures))
            others = [a for a, w in self.workers.items() if a not in own and flight.pool.fits(w)]
            what = "another one gets it, too" if others else "there is no other one"
            log.warning(
                "no result of %s from %s for %.0f s, where others took at most %.0f s: %s",
                *(flight, " and ".join(sorted(own)) or "any worker"),
                *(now - flight.since, self.turnaround.longest, what),
            )
            if others:
                self.start(flight, others, allow_others=False)

    def met_stranger(self, result: object) -> bool:
        """Whether a task came to a worker that has no such gangsaw, and is left out from now on.

        Or as soon as it answers, or the scheduler does: either may be busy.
        """
        error = result[1] if isinstance(result, tuple) else None
        if not isinstance(error, (ImportError, AttributeError)):
            return False
        self.handshake.ask_again()
        self.has_workers()
        self.strange += 1
        is_known = not self.is_unheard and self.handshake.is_complete
        return (bool(self.handshake.left_out) or not is_known) and self.strange < MOST_STRANGE

    def check(self, future: Future, result: object) -> None:
        """Raise JobFailed unless the future has its results."""
        if isinstance(result, Done) and result.error is not None and self.ends(result.error):
            raise JobFailed(str(result.error)) from result.error
        if future.status == "error":
            error = result[1] if isinstance(result, tuple) else None  # it is sys.exc_info()
            raise JobFailed(_cause(error, self.flying[future]))
        if future.status == "cancelled" or isinstance(result, BaseException):
            raise self.lost()

    def ends(self, error: ChunkFailed) -> bool:
        """Whether a chunk's error ends the job at once: what else is done would be kept nowhere."""
        if error.passing:
            return False
        goes_on = error.is_its_own and self.options.device == "cpu" and hasattr(self.task, "commit")
        return not goes_on or len(self.failed) >= MOST_FAILED

    def check_failed(self) -> None:
        """Raise JobFailed if there are chunks that failed while the others went on."""
        if self.failed:
            more = f", and {len(self.failed) - 1} more" if len(self.failed) > 1 else ""
            raise JobFailed(f"{self.failed[0]}{more}") from self.failed[0]

    def has_workers(self) -> bool:
        """Follow the workers; return whether each pool with something in flight has one."""
        if any(future.status == "cancelled" for future in self.flying):
            raise self.lost()
        asked = time.monotonic()
        try:
            found = workers_of(self.client, HEARD_SECONDS)
        except TimeoutError:
            self.say_unheard(time.monotonic() - asked)
            return True
        except (OSError, RuntimeError, ValueError):  # broken, closing and closed client
            raise self.lost() from None
        self.is_unheard = False
        self.workers = workers = self.handshake.admitted(found)
        self.looked = time.monotonic()
        for pool in self.pools:
            pool.update(workers)
        self.missing = next((p for p in self.pools if p.flying and not p.can_run(workers)), None)
        return self.missing is None

    def say_unheard(self, seconds: float) -> None:
        """Log once that the scheduler is there, and hangs, or that its network does."""
        if not self.is_unheard:
            where = self.client.scheduler.address
            log.warning("the scheduler at %s has not answered for %.0f s", where, seconds)
        self.is_unheard = True

    def lost(self) -> JobFailed:
        """Return the error that the scheduler is gone."""
        address = getattr(self.client.scheduler, "address", "?")
        return JobFailed(f"lost the scheduler at {address}: start one")

    def cancel(self) -> None:
        """Cancel what is in flight; batches that already run finish harmlessly."""
        if self.flying and self.client.status == "running":
            with suppress(Exception):
                self.client.cancel(list(self.flying), force=True)
        self.flying.clear()


def _having(client: Client, keys: Sequence[Key]) -> dict[Key, set[str]]:
    """Return which workers run tasks, or hold their results, as the scheduler says it in time."""
    found: dict[Key, set[str]] = {key: set() for key in keys}
    with suppress(Exception):
        running = client.sync(client.scheduler.processing, workers=None, callback_timeout="5s")
        holding = client.sync(client.scheduler.who_has, keys=keys, callback_timeout="5s")
        for address, own in running.items():
            for key in found.keys() & set(own):
                found[key].add(address)
        for key, addresses in holding.items():
            found[key] |= set(addresses)
    return found


def _failures(result: object) -> list[str]:
    """Return the chunk that a task could not do, in words; Dask tries some again by itself."""
    error = result.error if isinstance(result, Done) else None
    if isinstance(result, tuple) and isinstance(result[1], ChunkFailed):
        error = result[1]
    return [] if error is None else [str(error)]


def _cause(error: BaseException | None, batch: object) -> str:
    """Say in one line why Dask lost a batch."""
    if isinstance(error, ChunkFailed):
        return str(error)
    if isinstance(error, KilledWorker):
        return f"chunks {batch}: killed {error.allowed_failures + 1} workers: out of memory?"
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError) or "deserializ" in text:
        return f"a worker or the scheduler cannot load gangsaw, install the same version: {text}"
    return f"chunks {batch}: {text}"
