"""The engine on a real cluster: window, retries, resources, and losing workers and schedulers."""

from __future__ import annotations

import errno
import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from distributed import Client
from distributed.worker import thread_state
from helpers.hang import wait_until
from helpers.job_tasks import Square

from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.engine.distributed import stragglers
from gangsaw.tasks.engine.report.failure import name_failed_chunk
from gangsaw.tasks.engine.run.run import Options, run_batches
from gangsaw.tasks.engine.scheduling import batches as batches_module
from gangsaw.tasks.engine.scheduling import memory
from gangsaw.tasks.engine.scheduling.batch_size import MOST, TASK_SECONDS, Pace
from gangsaw.tasks.engine.scheduling.batches import do_batches
from gangsaw.tasks.engine.scheduling.memory import Worker
from gangsaw.tasks.engine.scheduling.worker_pools import CARRIED_BYTES, WINDOW


@dataclass(frozen=True)
class Meeting:
    """Waits, as for a disk, until as many have come as are expected; then raises `trouble`."""

    folder: str
    expected: int
    trouble: str = ""
    peak_bytes: int = 0
    waits: bool = True
    name: str = "meeting"

    def __call__(self, number: int) -> int:
        Path(self.folder, str(number)).touch()
        return number

    def commit(self, numbers: Sequence[int], results: Sequence[int]) -> None:
        assert [*numbers] == [*results]
        with name_failed_chunk(f"c/{numbers[0]}"):
            wait_until(lambda: len(list(Path(self.folder).iterdir())) >= self.expected)
            if self.trouble:
                raise OSError(errno.ENOSPC, "No space left on device", self.trouble)


@dataclass(frozen=True)
class Committed:
    """Fails at 7; writes down what it commits."""

    file: str
    peak_bytes: int = 0
    name: str = "committed"

    def __call__(self, number: int) -> int:
        with name_failed_chunk(f"c/{number}"):
            if number == 7:
                raise CorruptChunk("the checksum differs", block=3)
        return number

    def commit(self, _: Sequence[int], results: Sequence[int]) -> None:
        Path(self.file).write_text(" ".join(map(str, results)))


@dataclass(frozen=True)
class Tally(Square):
    """Leaves a file for each task of Dask that it runs in."""

    def __call__(self, batch: range) -> list[int]:
        Path(self.folder, str(thread_state.key[1])).touch()
        return super().__call__(batch)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """Two processes of one thread, the first with a resource."""
    config = ClusterConfig(workers=2, threads=1, resources={"SAW": 1}, dashboard=False)
    with start(config) as client:
        yield client


def squares(task: Square, client: Client | None, n: int = 20, **options: object) -> list[int]:
    """Run the task over 4 * n numbers; return the squares in order."""
    found: dict[range, list[int]] = {}
    batches = [range(i, i + 4) for i in range(0, 4 * n, 4)]
    chosen = Options(**options)  # type: ignore[arg-type]
    run_batches(task, batches, found.__setitem__, client=client, options=chosen)
    return [square for batch in batches for square in found[batch]]


def test_every_batch_is_run_once(client: Client) -> None:
    wanted = [i**2 for i in range(800)]
    assert squares(Square(), client, 200) == wanted
    assert squares(Square(), None, 200) == wanted


def test_the_window_bounds_what_is_in_flight(client: Client) -> None:
    """Batches are taken from the iterator only as results come back; at first a few."""
    taken = done = widest = 0
    first: list[int] = []

    def batches() -> Iterator[range]:
        nonlocal taken, widest
        for i in range(2 * WINDOW * MOST):
            taken += 1
            widest = max(widest, taken - done)
            yield range(i, i + 1)

    def on_done(_: range, __: list[int]) -> None:
        nonlocal done
        first[:] = first or [taken]
        done += 1

    run_batches(Square(), batches(), on_done, client=client)
    assert done == taken == 2 * WINDOW * MOST
    assert first == [4]  # two for each thread
    # a result counts as back when it was delivered; some are delivered together
    assert widest <= (WINDOW + 1) * MOST


@pytest.mark.parametrize(("carried_bytes", "most"), [(1, 4), (CARRIED_BYTES // 3, 3)])
@pytest.mark.parametrize("here", [False, True])
def test_few_batches_that_carry_samples_are_in_flight(
    client: Client, carried_bytes: int, most: int, here: bool
) -> None:
    """Two for each of two threads, fewer where they are large; in this process it says how many."""
    ahead = widest = 0

    def batches() -> Iterator[range]:
        nonlocal ahead, widest
        for i in range(40):
            ahead += 1
            widest = max(widest, ahead)
            yield range(i, i + 1)

    def on_done(_: range, __: list[int]) -> None:
        nonlocal ahead
        ahead -= 1

    set_thread_limit(2 if here else None)
    try:
        task = Square(carried_bytes=carried_bytes)
        run_batches(task, batches(), on_done, client=None if here else client)
    finally:
        set_thread_limit(None)
    assert ahead == 0
    assert most <= widest <= (4 if here else most)


def test_few_tasks_do_many_short_batches(client: Client, tmp_path: Path) -> None:
    assert squares(Tally(folder=str(tmp_path)), client, 400) == [i**2 for i in range(1600)]
    assert len(list(tmp_path.iterdir())) < 100


def test_the_pace() -> None:
    pace = Pace()
    assert pace.batches(1000, 2) == 1  # nothing is known yet
    pace.record(1, 10.0)  # compiled, imported
    assert pace.batches(1000, 2) == 1
    pace.record(2, TASK_SECONDS / 4)
    assert pace.batches(None, 2) == pace.batches(1000, 2) == 8
    assert [pace.batches(left, 2) for left in (31, 12, 4, 1, 0)] == [7, 3, 1, 1, 1]
    pace.record(1, 0.0)
    assert pace.batches(None, 0) == MOST
    pace.record(0, 5.0)  # all of it failed
    assert pace.batches(None, 2) == MOST


def test_who_waits_lets_others_begin(client: Client, tmp_path: Path) -> None:
    """Four at once on two threads; without a cluster no other task can start."""
    found: dict[int, int] = {}
    run_batches(Meeting(str(tmp_path), 4), range(4), found.__setitem__, client=client)
    assert found == {i: i for i in range(4)}
    run_batches(Meeting(str(tmp_path), 4), range(4), found.__setitem__)


@pytest.mark.parametrize("here", [False, True])
def test_what_goes_wrong_while_it_waits_is_told(client: Client, tmp_path: Path, here: bool) -> None:
    message = r"^chunk c/0: No space left on device: /mnt/c$"
    task = Meeting(str(tmp_path), 1, "/mnt/c")
    with pytest.raises(JobFailed, match=message):
        run_batches(task, range(1), lambda *_: None, client=None if here else client)


@dataclass(frozen=True)
class Shaky(Square):
    """Each batch fails once, as when a server throttles; from the 40th on each takes 0.1 s."""

    def __call__(self, batch: range) -> list[int]:
        path = Path(self.folder, str(batch.start))
        with name_failed_chunk(f"c/{batch.start}"):
            if not path.exists():
                path.touch()
                raise ConnectionResetError(errno.ECONNRESET, "Connection reset by peer")
        if batch.start >= 160:
            time.sleep(0.1)
        return super().__call__(batch)


def test_each_batch_of_a_task_is_retried_for_itself(client: Client, tmp_path: Path) -> None:
    """Though all fail once, and the time that they take changes while many are in flight."""
    tally: list[range] = []
    batches = [range(i, i + 4) for i in range(0, 4 * 60, 4)]
    run_batches(
        Shaky(folder=str(tmp_path)), batches, lambda batch, _: tally.append(batch), client=client
    )
    assert sorted(tally, key=lambda batch: batch.start) == batches


def test_a_task_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that take longer than was thought are given back."""
    clock = [0.0]

    class Slow(Square):
        def __call__(self, batch: range) -> list[int]:
            clock[0] += TASK_SECONDS / 2
            return list(batch)

    monkeypatch.setattr(batches_module, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    done = do_batches(Slow(), "cpu", [range(i) for i in range(100)])
    assert done.error is None
    assert done.results == [[*range(i)] for i in range(5)]  # the fifth is beyond twice the time
    assert done.seconds == 5 * TASK_SECONDS / 2


def test_batches_before_one_that_fails_settle(tmp_path: Path) -> None:
    """A task of several batches journals those that were done."""
    task = Committed(str(tmp_path / "committed"))
    done = do_batches(task, "cpu", (5, 6, 7, 8))
    assert done.results == [5, 6]
    assert str(done.error) == "chunk c/7: block 3: the checksum differs"
    assert Path(task.file).read_text() == "5 6"


def test_errors_that_pass_are_retried(client: Client, tmp_path: Path) -> None:
    assert squares(Square("network twice", str(tmp_path)), client) == [i**2 for i in range(80)]
    assert len(list(tmp_path.iterdir())) == 3


def test_retries_end(client: Client, tmp_path: Path) -> None:
    with pytest.raises(JobFailed, match="chunk c/7: Connection reset by peer"):
        squares(Square("network", str(tmp_path)), client, retries=1)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        ("full", "chunk c/7: No space left on device: /mnt/c/7"),
        ("corrupt", "chunk c/7: block 3: the checksum differs"),
    ],
)
@pytest.mark.parametrize("here", [False, True])
def test_final_errors_stop_at_once(
    client: Client, tmp_path: Path, trouble: str, message: str, here: bool
) -> None:
    with pytest.raises(JobFailed, match=f"^{message}$"):
        squares(Square(trouble, str(tmp_path)), None if here else client)
    assert len(list(tmp_path.iterdir())) == 1


def test_what_a_stopped_worker_has_is_given_to_another_one(
    client: Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(stragglers, "LEAST_SECONDS", 1.0)
    monkeypatch.setattr(stragglers, "TIMES", 1.5)
    pid = 0

    def on_done(*_: object) -> None:
        nonlocal pid
        for path in tmp_path.iterdir():
            pid = pid or int(path.suffix[1:])

    try:
        task = Square("stop once", str(tmp_path))
        batches = [range(i, i + 1) for i in range(80)]
        found: dict[range, list[int]] = {}
        run_batches(task, batches, lambda b, r: (found.update({b: r}), on_done()), client=client)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert found == {batch: [batch.start**2] for batch in batches}
    said = [r.getMessage() for r in caplog.records if r.name.startswith("gangsaw")]
    late_ones = [line for line in said if line.startswith("no result")]  # others: it is busy
    of = r"no result of range\(.+\) from t\w+://\S+( and t\w+://\S+)*"
    ends = "(another one gets it, too|it is sent again|there is no other one)"
    pattern = rf"{of} for \d+ s, where others took at most \d+ s: {ends}"
    assert all(re.fullmatch(pattern, line) for line in late_ones), late_ones
    assert [line for line in late_ones if line.endswith("another one gets it, too")]


def test_resources_are_held(client: Client) -> None:
    assert squares(Square(), client, resources={"SAW": 1}) == [i**2 for i in range(80)]


@pytest.mark.full
def test_missing_resources_are_told(client: Client) -> None:
    with pytest.raises(JobFailed, match=r"no worker with GPU=1 for 0\.1 s: start one"):
        squares(Square(), client, resources={"GPU": 1}, worker_seconds=0.1)


def test_the_memory_promise_is_kept(client: Client) -> None:
    with pytest.raises(BadParams, match="use smaller chunks, fewer threads"):
        squares(Square(peak_bytes=1 << 50), client)


def test_threads_of_this_process_share_its_memory(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Fewer run where it is little; a worker's threads are those that it was given."""
    machine: Worker = {"name": "of this machine", "memory_limit": 10 << 30, "nthreads": 1}
    monkeypatch.setattr(memory, "describe_this_process", lambda: machine)
    assert memory.threads_that_fit(2 << 30, 3) == 3
    assert not caplog.messages
    assert memory.threads_that_fit(2 << 30, 4) == 3  # 80 % of 10 GiB, less 384 MiB
    assert caplog.messages == ["memory for 3 of 4 threads: each may need 2,048 MiB"]
    with pytest.raises(BadParams, match=r"has 10,240 MiB for 1 threads, which need 10,720 MiB"):
        memory.threads_that_fit(8 << 30, 1)


def test_interrupting_leaves_nothing_in_flight(client: Client) -> None:
    def interrupt(_: range, __: list[int]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_batches(Square(), (range(i, i + 1) for i in range(500)), interrupt, client=client)
    wait_until(lambda: client.run_on_scheduler(_tasks_known) == 0)


class Released:
    """As a future of Dask's that is interrupted in its `__del__`."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("on_dask", [False, True])
def test_an_interrupt_in_a_destructor_is_not_lost(client: Client, on_dask: bool) -> None:
    done = []

    def release(batch: range, _: list[int]) -> None:
        done.append(batch)
        if len(done) == 3:
            Released()

    batches = (range(i, i + 1) for i in range(500))
    with pytest.raises(KeyboardInterrupt):
        run_batches(Square(), batches, release, client=client if on_dask else None)
    assert len(done) == 3


@pytest.mark.parametrize("on_dask", [False, True])
def test_an_interrupt_ends_the_wait_for_what_to_do(client: Client, on_dask: bool) -> None:
    """As for a pipe that says no more."""
    went_on: list[range] = []

    def batches() -> Iterator[range]:
        yield range(1)
        signal.raise_signal(signal.SIGINT)
        went_on.append(range(1))

    task = Square(carried_bytes=1)
    with pytest.raises(KeyboardInterrupt):
        run_batches(task, batches(), lambda *_: None, client=client if on_dask else None)
    assert not went_on


def _tasks_known(dask_scheduler: object) -> int:
    return len(dask_scheduler.tasks)  # type: ignore[attr-defined]


# the last ones: a machine that is busy takes a while to start workers again
@pytest.mark.parametrize("carried_bytes", [0, 1 << 20])
def test_a_killed_worker_is_replaced(client: Client, tmp_path: Path, carried_bytes: int) -> None:
    task = Square("die once", str(tmp_path), carried_bytes=carried_bytes)
    assert squares(task, client) == [i**2 for i in range(80)]
    assert len({path.suffix for path in tmp_path.iterdir()}) == 2


def test_a_batch_that_kills_every_worker_is_named(client: Client, tmp_path: Path) -> None:
    # alone: Dask suspects whatever a killed worker had before it, and may blame another batch
    with pytest.raises(JobFailed, match=r"chunks range\(4, 8\): killed 4 workers: out of memory"):
        run_batches(Square("die", str(tmp_path)), [range(4, 8)], lambda *_: None, client=client)
