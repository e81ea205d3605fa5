"""State of the jobs of a scheduler, from the messages of their clients."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from gangsaw.cluster.dashboard import metrics
from gangsaw.cluster.dashboard.metrics import Metric

TOPIC = "gangsaw"  # topic of the clients' events
MOST_ENDED = 50  # ended jobs that are still shown
MOST_FAILURES = 20  # last messages of a job
MOST_POINTS = 600  # points of a job's curve; beyond, every second one is dropped
MOST_CELLS = 2000  # cells of a map; a cell is several chunks if a job has more
RECENT_SECONDS = 10.0  # window of the current throughput
ENDS = ("done", "failed", "interrupted", "lost")

Message: TypeAlias = Mapping[str, object]
Key: TypeAlias = tuple[str, str, str]  # codec, backend, worker


@dataclass
class Amount:
    """Amount of work that a job has done.

    Attributes
    ----------
    chunks : number of chunks done
    decoded, encoded : bytes of their samples, and of their stored form
    seconds : seconds of worker threads
    failed : number of failures of chunks
    """

    chunks: int = 0
    decoded: int = 0
    encoded: int = 0
    seconds: float = 0.0
    failed: int = 0

    def add(self, other: Amount) -> None:
        """Add another amount to this one."""
        self.chunks += other.chunks
        self.decoded += other.decoded
        self.encoded += other.encoded
        self.seconds += other.seconds
        self.failed += other.failed

    @property
    def ratio(self) -> float:
        """Decoded over encoded bytes; 0 before the first chunk."""
        return self.decoded / self.encoded if self.encoded else 0.0


@dataclass
class JobState:
    """State of a job on the dashboard, from the messages of its client.

    Attributes
    ----------
    job : unique identifier
    kind, store : command such as "compress", and the store as the user wrote it
    client : Dask's name of the client that runs it
    began, ended : seconds since 1970 by the scheduler's clock; `ended` is 0 for a running job
    outcome : "running", or one of ENDS
    step : name of a preparatory step, "" while the chunks are done
    done, total, resumed : numbers of chunks done, of all, and of those that earlier runs had done;
        the total of a stream is 0 until it ends
    decoded, encoded : bytes of the chunks done, earlier runs included
    run_bytes : decoded bytes of this run
    parts : amounts of this run, by codec, backend and worker
    failures : last messages about failed chunks
    cells, room : chunks done and all chunks, by cell of the chart `Map`
    bad : cells with chunks that failed or are damaged
    points : (seconds since `began`, bytes of this run, chunks of this run) of the chart `Curve`
    """

    job: str
    kind: str = ""
    store: str = ""
    client: str = ""
    began: float = field(default_factory=time.time)
    last_message: float = 0.0
    ended: float = 0.0
    outcome: str = "running"
    step: str = ""
    done: int = 0
    total: int = 0
    resumed: int = 0
    decoded: int = 0
    encoded: int = 0
    run_bytes: int = 0
    parts: dict[Key, Amount] = field(default_factory=lambda: defaultdict(Amount))
    failures: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_FAILURES))
    cells: list[int] = field(default_factory=list)
    room: list[int] = field(default_factory=list)
    bad: set[int] = field(default_factory=set)
    points: list[tuple[float, int, int]] = field(default_factory=lambda: [(0.0, 0, 0)])

    @property
    def is_running(self) -> bool:
        """True if the job has not ended."""
        return self.outcome == "running"

    @property
    def seconds(self) -> float:
        """Duration of the job until now, or until it ended."""
        return (self.ended or time.time()) - self.began

    @property
    def left(self) -> int:
        """Number of chunks that are not done, 0 if the total is unknown."""
        return max(0, self.total - self.done)

    @property
    def failed(self) -> int:
        """Number of failures of chunks, retries included."""
        return sum(part.failed for part in self.parts.values())

    @property
    def ratio(self) -> float:
        """Decoded over encoded bytes; 0 before the first chunk."""
        return self.decoded / self.encoded if self.encoded else 0.0

    @property
    def throughput(self) -> float:
        """Decoded bytes per second: recent for a running job, mean for an ended one."""
        return self._pace(1)

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds to the end, from the recent pace; None if unknown."""
        pace = self._pace(2)
        return self.left / pace if self.is_running and self.total and pace else None

    @property
    def seconds_since_progress(self) -> float:
        """Seconds since the last progress of a running job; 0 for an ended one."""
        last = next((p for p in reversed(self.points) if p[1:] != self.points[-1][1:]), None)
        moved = self.points[0] if last is None else self.points[self.points.index(last) + 1]
        return self.seconds - moved[0] if self.is_running else 0.0

    def _pace(self, column: int) -> float:
        now, last = self.seconds, self.points[-1]
        since = now - RECENT_SECONDS if self.is_running else 0.0
        first = next((p for p in reversed(self.points) if p[0] <= since), self.points[0])
        grown = last[column] - first[column]
        return grown / max(now - first[0], 1e-3) if grown else 0.0

    def update(self, message: Message) -> Iterator[tuple[Key, Amount]]:
        """Update the state from a client's message; yield its amounts by codec, backend, worker."""
        self.last_message = time.time()
        for name in ("kind", "store", "client", "step"):
            setattr(self, name, str(message.get(name, getattr(self, name))))
        for name in ("done", "total", "resumed", "decoded", "encoded", "run_bytes"):
            setattr(self, name, int(cast("int", message.get(name, getattr(self, name)))))
        self.failures.extend(map(str, _listed(message, "failures")))
        self._mark(message)
        for codec, backend, worker, *amount in cast("list[list[str]]", _listed(message, "parts")):
            new = Amount(*cast("list[int]", amount))
            self.parts[codec, backend, worker].add(new)
            yield (codec, backend, worker), new
        self._point()
        if (outcome := message.get("outcome")) in ENDS:
            self.end(str(outcome))

    def end(self, outcome: str) -> None:
        """Record the outcome of a job that has not ended before."""
        if self.is_running:
            self.outcome, self.ended = outcome, time.time()

    def _mark(self, message: Message) -> None:
        """Update the map of chunks from a message.

        Its `room` starts a new map, and its `cells` are pairs of cell and increase.
        """
        if room := _listed(message, "room"):
            self.bad.clear()
            self.room = [int(cast("int", n)) for n in room[:MOST_CELLS]]
            self.cells = [0] * len(self.room)
        for place, n in cast("list[list[int]]", _listed(message, "cells")):
            if 0 <= place < len(self.cells):
                self.cells[place] += n
        self.bad.update(int(cast("int", cell)) for cell in _listed(message, "bad"))

    def _point(self) -> None:
        chunks = 0 if self.step else self.done - self.resumed
        self.points.append((self.last_message - self.began, self.run_bytes, chunks))
        if len(self.points) > MOST_POINTS:
            self.points = [self.points[0], *self.points[2::2]]


def _listed(message: Message, name: str) -> Sequence[object]:
    return cast("Sequence[object]", message.get(name, ()))


class Jobs:
    """All jobs that a scheduler knows, and monotonic sums of their amounts."""

    def __init__(self) -> None:
        self.jobs: dict[str, JobState] = {}
        self.sums: dict[tuple[str, str, str], Amount] = defaultdict(Amount)  # codec, backend, kind
        self.last_progress = 0.0

    def update(self, message: Message) -> None:
        """Update the state of a job from a client's message."""
        name = str(message["job"])
        state = self.jobs.get(name)
        if state is None:
            state = self.jobs[name] = JobState(name)
            self._forget()
        for (codec, backend, _), new in state.update(message):
            self.sums[codec, backend, state.kind].add(new)
            if new.chunks:
                self.last_progress = state.last_message

    def mark_lost(self, client: str) -> None:
        """Mark the running jobs of a client as "lost", since the client is gone."""
        for state in self.running:
            if state.client == client:
                state.end("lost")

    def _forget(self) -> None:
        ended = [name for name, state in self.jobs.items() if not state.is_running]
        for name in ended[:-MOST_ENDED]:
            del self.jobs[name]

    @property
    def running(self) -> list[JobState]:
        """Jobs that have not ended."""
        return [state for state in self.jobs.values() if state.is_running]

    @property
    def newest_first(self) -> list[JobState]:
        """Running jobs, then ended ones; both with the latest first."""
        running = [s for s in reversed(self.jobs.values()) if s.is_running]
        ended = sorted((s for s in self.jobs.values() if not s.is_running), key=lambda s: -s.ended)
        return [*running, *ended]

    def series(self, metric: Metric) -> list[tuple[list[str], float]]:
        """Return the values of a Prometheus metric, each with its label values."""
        gauges = {
            metrics.LEFT: sum(state.left for state in self.running if not state.step),
            metrics.RUNNING: len(self.running),
            metrics.PROGRESS: self.last_progress,
        }
        if metric in gauges:
            return [([], gauges[metric])]
        name = OF_METRIC[metric]
        return [(list(labels), getattr(amount, name)) for labels, amount in self.sums.items()]


OF_METRIC = {
    metrics.CHUNKS: "chunks",
    metrics.FAILED: "failed",
    metrics.DECODED: "decoded",
    metrics.ENCODED: "encoded",
    metrics.SECONDS: "seconds",
}
