"""One process compiles while the others wait; nobody waits for ever."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from helpers.hang import HANG

from gangsaw.codecs.core.numba.packs import turns

pytest.importorskip("fcntl")
HOLD = """
import sys
from pathlib import Path
from gangsaw.codecs.core.numba.packs import turns
release, waited = turns.acquire(Path(sys.argv[1]))
print("has it", waited, flush=True)
sys.stdin.read()
release()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """A process that has the turn until its input ends."""
    arguments = [sys.executable, "-c", HOLD, str(path)]
    held = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert held.stdout is not None
    assert held.stdout.readline() == "has it False\n"
    return held


def test_nobody_waits_for_a_free_turn_and_nothing_is_left(tmp_path: Path) -> None:
    release, waited = turns.acquire(tmp_path / "new" / "turn")
    assert not waited
    release()
    assert not list((tmp_path / "new").iterdir())


def test_a_process_waits_until_the_other_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sleep, looked = tmp_path / "turn", turns.time.sleep, threading.Semaphore(0)

    def look_again(seconds: float) -> None:
        looked.release()
        sleep(seconds)

    with monkeypatch.context() as patch, holder(path) as held:
        patch.setattr(turns.time, "sleep", look_again)
        got: list[bool] = []

        def wait() -> None:
            release, waited = turns.acquire(path)
            release()
            got.append(waited)

        waiter = threading.Thread(target=wait)
        waiter.start()
        assert all(looked.acquire(timeout=HANG) for _ in range(3))
        assert not got
        held.communicate()
        waiter.join()
    assert got == [True]
    assert not path.exists()


def test_the_turn_of_a_process_that_died_is_free(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    with holder(path) as held:
        held.kill()
        held.wait()
        release, _ = turns.acquire(path)
        release()
    assert not path.exists()


def test_who_waited_long_enough_has_no_turn_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    with holder(path) as held:
        release, waited = turns.acquire(path, longest=0.1)
        assert waited
        release()
        assert path.exists(), "the other's turn"
        held.communicate()


def test_nobody_waits_where_nothing_can_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(turns.fcntl, "lockf", refuse)
    release, waited = turns.acquire(tmp_path / "turn")
    release()
    assert not waited


def test_nobody_waits_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    release, waited = turns.acquire(tmp_path / "file" / "turn")
    release()
    assert not waited
