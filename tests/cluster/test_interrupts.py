"""Ctrl-C while workers start, and where Python would lose it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from helpers.hang import HANG

from gangsaw.cluster.interrupts import defer_interrupts

SCRIPT = """
import os, signal, threading
from distributed import LocalCluster
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start

def begin(self):  # the instant at which Dask has workers, none of them started
    LocalCluster._correct_state = kept  # closing comes here too
    os.kill(os.getpid(), signal.SIGINT)
    return kept(self)

if __name__ == "__main__":
    kept, LocalCluster._correct_state = LocalCluster._correct_state, begin
    try:
        with start(ClusterConfig(workers=1, silent=True)):
            print("went on")
    except KeyboardInterrupt:
        print("interrupted")
"""


BUSY = """
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start

async def store():
    pass

def leave():
    store()  # as an event loop does that is closed with something in its queue

if __name__ == "__main__":
    with start(ClusterConfig(workers=1, silent=True)) as client:
        client.run(leave)
"""


DEAF = """
import signal
from gangsaw.cluster.config import ClusterConfig
from gangsaw.cluster.launchers.local import start

def blocked():
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])

if __name__ == "__main__":
    with start(ClusterConfig(workers=2, silent=True)) as client:
        print(sorted(client.run(blocked).values()), blocked())
"""


def ran(tmp_path: Path, code: str) -> tuple[str, str]:
    (script := tmp_path / "script.py").write_text(code)
    command = [sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=True)
    return done.stdout, done.stderr


def test_an_interrupt_waits_for_the_workers(tmp_path: Path) -> None:
    assert ran(tmp_path, SCRIPT) == ("interrupted\n", "")


@pytest.mark.full
@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="a system without signal masks")
def test_workers_are_deaf_from_their_first_instruction(tmp_path: Path) -> None:
    """Else Ctrl-C while they import prints where it found them; the client still hears it."""
    assert ran(tmp_path, DEAF) == ("[True, True] False\n", "")


@pytest.mark.full
def test_a_worker_that_ends_in_the_middle_says_nothing(tmp_path: Path) -> None:
    assert ran(tmp_path, BUSY) == ("", "")


class Released:
    """What interrupts in its `__del__`, where a KeyboardInterrupt is printed and forgotten."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_where_nothing_may_be_raised_is_kept() -> None:
    with defer_interrupts() as interrupts:
        Released()
        with pytest.raises(KeyboardInterrupt):
            interrupts.raise_deferred()
        interrupts.raise_deferred()  # once only


def test_an_interrupt_comes_at_the_end_of_the_block_at_the_latest() -> None:
    with pytest.raises(KeyboardInterrupt), defer_interrupts():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_interrupt_does_not_wait() -> None:
    with defer_interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            interrupts.raise_deferred()


def test_handlers_of_others_stay() -> None:
    arrived: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: arrived.append(number))
    try:
        with defer_interrupts():
            signal.raise_signal(signal.SIGTERM)
            assert arrived == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


class Deleted:
    """Sends a signal where Python prints exceptions and forgets them."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_what_a_del_would_swallow_comes_again(capfd: pytest.CaptureFixture[str]) -> None:
    """While an interrupt acts at once, as when a pipe is read."""
    reader, writer = os.pipe()

    def read() -> None:
        with defer_interrupts() as waiting, waiting.allow_interrupts():
            Deleted()
            os.read(reader, 1)  # nothing comes

    with pytest.raises(KeyboardInterrupt):
        read()
    os.close(reader)
    os.close(writer)
    assert capfd.readouterr().err == ""
