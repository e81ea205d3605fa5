"""The thread pool: one limit for the process, whoever calls."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from helpers.hang import HANG, wait_until

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory import threads


@pytest.fixture(autouse=True)
def _no_limit_left_behind() -> Iterator[None]:
    yield
    threads.set_thread_limit(None)
    threads.set_default_limit(None)


class Gauge:
    """Counts how many calls run at once, and in which threads.

    The first calls wait until `wanted` of them run, so that a loaded machine changes no count.
    """

    def __init__(self, wanted: int = 1) -> None:
        self.wanted, self.enough = wanted, threading.Event()
        self.lock = threading.Lock()
        self.now = self.most = 0
        self.names: set[str] = set()
        self.done: list[int] = []

    def __call__(self, i: int) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            if self.now >= self.wanted:
                self.enough.set()
        assert self.enough.wait(HANG)
        time.sleep(0.004)
        with self.lock:
            self.now -= 1
            self.names.add(threading.current_thread().name)
            self.done.append(i)


@pytest.mark.parametrize("limit", [1, 3, 8])
def test_each_block_once_and_the_limit_is_reached(limit: int) -> None:
    threads.set_thread_limit(limit)
    gauge = Gauge(limit)
    threads.run_blocks(gauge, 20)
    assert sorted(gauge.done) == list(range(20))
    assert gauge.most == limit


def test_many_callers_share_one_limit() -> None:
    threads.set_thread_limit(3)
    gauge = Gauge(3)
    with ThreadPoolExecutor(6) as callers:
        list(callers.map(lambda n: threads.run_blocks(gauge, n), [1, 7, 2, 9, 1, 5]))
    assert len(gauge.done) == 25
    assert gauge.most == 3


@pytest.mark.parametrize(("limit", "n_blocks"), [(1, 5), (4, 1), (4, 0)])
def test_little_work_stays_in_the_calling_thread(limit: int, n_blocks: int) -> None:
    threads.set_thread_limit(limit)
    gauge = Gauge()
    threads.run_blocks(gauge, n_blocks)
    assert gauge.names <= {threading.current_thread().name}


@pytest.mark.parametrize("limit", [1, 2])
def test_blocks_within_a_block_do_not_deadlock(limit: int) -> None:
    threads.set_thread_limit(limit)
    done = []
    threads.run_blocks(lambda _: threads.run_blocks(done.append, 3), 4)
    assert sorted(done) == sorted([0, 1, 2] * 4)


@pytest.mark.parametrize("limit", [1, 4])
def test_the_first_error_stops_the_rest(limit: int) -> None:
    threads.set_thread_limit(limit)
    started = []

    def fail(i: int) -> None:
        started.append(i)
        time.sleep(0.002)
        raise ValueError(i)

    with pytest.raises(ValueError, match=r"^0$"):
        threads.run_blocks(fail, 100)
    assert len(started) <= limit
    threads.run_blocks(started.append, 2)  # no permit was lost


def test_a_limit_that_changes_while_blocks_run() -> None:
    threads.set_thread_limit(1)
    gauge = Gauge(4)
    with ThreadPoolExecutor(4) as callers:
        waiting = [callers.submit(threads.run_blocks, gauge, 10) for _ in range(4)]
        wait_until(lambda: gauge.now)  # one block has begun, the others wait
        assert gauge.most == 1
        threads.set_thread_limit(4)
        for future in waiting:
            future.result()
    assert gauge.most == 4


def test_the_environment_sets_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, "3")
    threads.set_default_limit(5)
    assert threads.thread_limit() == 3
    threads.set_thread_limit(2)
    assert threads.thread_limit() == 2


@pytest.mark.parametrize("text", ["0", "-1", "two"])
def test_a_senseless_limit_in_the_environment(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, text)
    with pytest.raises(BadParams, match=f"GANGSAW_THREADS must be .*, got '{text}'"):
        threads.thread_limit()


def worker(nthreads: int, status: str) -> Any:
    state, named = SimpleNamespace(nthreads=nthreads), SimpleNamespace(name=status)
    return SimpleNamespace(state=state, status=named)


def test_which_limit_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explicit, then the Dask workers of this process, then Zarr's, then the cores."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert threads.thread_limit() == 3
    threads.set_default_limit(7)
    assert threads.thread_limit() == 7
    workers = [worker(2, "running"), worker(3, "paused"), worker(9, "closed")]
    module = SimpleNamespace(Worker=SimpleNamespace(_instances=workers))
    monkeypatch.setitem(sys.modules, "distributed.worker", module)
    assert threads.thread_limit() == 5
    threads.set_thread_limit(4)
    assert threads.thread_limit() == 4


def test_the_limit_of_a_real_dask_worker() -> None:
    """In a thread that Dask did not start, too: Zarr decodes in its own."""
    pytest.importorskip("distributed")
    from helpers import clusters

    def asked() -> int:
        with ThreadPoolExecutor(1) as other:
            return other.submit(threads.thread_limit).result()

    with clusters.in_process(1, threads=5) as client:
        assert client.submit(asked, pure=False).result() == 5


def test_zarr_configures_the_default() -> None:
    import numpy as np
    import zarr
    from plain_codec.codec import Plain

    with zarr.config.set({"threading.max_workers": 6}):
        Plain().encode_chunk(np.zeros((4, 4), "i2"))
    assert threads.thread_limit() == 6


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(BadParams, match="at least 1"):
        threads.set_thread_limit(0)


def test_a_forked_child_starts_afresh() -> None:
    """Helper threads do not survive a fork; permits that were held then would be lost."""
    code = """if 1:
        import os, threading, warnings
        from gangsaw.codecs.core.memory import threads
        warnings.simplefilter("ignore", DeprecationWarning)
        threads.set_thread_limit(2)
        begun, forked = threading.Semaphore(0), threading.Event()
        def block(i):
            begun.release()
            forked.wait()
        slow = threading.Thread(target=threads.run_blocks, args=(block, 4))
        slow.start()
        begun.acquire()
        begun.acquire()  # both permits are held
        if child := os.fork():
            forked.set()
            slow.join()
            raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        threads.run_blocks(lambda i: None, 8)
        os._exit(0)
    """
    subprocess.run([sys.executable, "-c", code], check=True, timeout=HANG)
