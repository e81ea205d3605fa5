"""The example in notebooks/online: a correlator, a socket, a store; ends of every kind."""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import xarray as xr
from helpers.hang import HANG, wait_until

from gangsaw.codecs.visibility.samples import patterns

FOLDER = Path(__file__).parents[3] / "notebooks" / "online"
CUBE = patterns((11, 8, 6, 2), "<c8")
CHUNK = 2


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(FOLDER))
    import wire

    return wire


@pytest.fixture
def incoming(wire: ModuleType) -> Any:
    import receiver

    return receiver.Incoming


def start(script: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(FOLDER / script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@contextmanager
def receiver(store: Path, *arguments: object) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A receiver that listens, and its port."""
    process = start("receiver.py", store, "--chunk", CHUNK, *arguments)
    try:
        assert process.stdout is not None
        yield process, int(process.stdout.readline().rpartition(":")[2])
    finally:
        process.kill()
        process.communicate()


def header(wire: ModuleType) -> Any:
    dims = ("time", "frequency", "baseline", "polarization")
    coords = {"frequency": list(1.4e9 + 1e5 * np.arange(8))}
    return wire.Header(dims, CUBE.shape[1:], "<c8", "seconds since 2026-01-01", coords)


def steps_in(store: Path) -> int:
    if not (store / "zarr.json").exists():
        return 0
    with xr.open_zarr(store, chunks=None) as data:
        return int(data.sizes["time"])


def check(store: Path, n_steps: int) -> None:
    with xr.open_zarr(store, chunks=None, decode_times=False) as data:
        assert data["visibility"].values.tobytes() == CUBE[:n_steps].tobytes()
        np.testing.assert_array_equal(data["time"], 8.0 * np.arange(n_steps))


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("effort", ["fast", "dense"])
def test_from_correlator_to_store_and_on_in_the_next_run(tmp_path: Path, effort: str) -> None:
    store = tmp_path / "a.zarr"
    for first, last in ((0, 5), (5, 11)):
        np.save(tmp_path / "part.npy", CUBE[first:last])
        with receiver(store, "--effort", effort) as (process, port):
            arguments = "--input", tmp_path / "part.npy", "--start", 8.0 * first
            sender = start("correlator.py", port, *arguments)
            assert sender.communicate(timeout=HANG) == (f"sent {last - first} steps\n", "")
            out, err = process.communicate(timeout=HANG)
        assert (process.returncode, err) == (0, "")
        assert f"{last - first} steps, " in out
        assert "MB/s, ratio " in out
        check(store, last)


def test_a_simulated_correlator_is_compressed(tmp_path: Path) -> None:
    with receiver(tmp_path / "a.zarr", "--chunk", 8) as (process, port):
        sender = start("correlator.py", port, "--steps", 16, "--channels", 16, "--baselines", 20)
        sender.communicate(timeout=HANG)
        out, _ = process.communicate(timeout=HANG)
    assert sender.returncode == process.returncode == 0
    assert steps_in(tmp_path / "a.zarr") == 16
    assert float(out.partition("ratio ")[2].partition(",")[0]) > 1


@contextmanager
def connected(wire: ModuleType, port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=HANG) as connection:
        wire.send_header(connection, header(wire))
        yield connection


def test_half_a_step_at_the_end_is_one_error_and_costs_no_whole_step(
    tmp_path: Path, wire: ModuleType
) -> None:
    store = tmp_path / "a.zarr"
    with receiver(store) as (process, port):
        with connected(wire, port) as connection:
            for i in range(5):
                wire.send_step(connection, 8.0 * i, CUBE[i])
            connection.sendall(wire.STEP.pack(8 + CUBE[5].nbytes, 40.0) + CUBE[5].tobytes()[:20])
        _, err = process.communicate(timeout=HANG)
    assert process.returncode == 1
    assert err == (
        "error: the stream ended within step 5: 20 of 768 bytes came; "
        "the whole steps before it are stored\n"
    )
    check(store, 5)


def test_a_step_of_another_size_is_one_error(tmp_path: Path, wire: ModuleType) -> None:
    with receiver(tmp_path / "a.zarr") as (process, port), connected(wire, port) as connection:
        wire.send_step(connection, 0.0, CUBE[0])
        connection.sendall(wire.STEP.pack(1 << 60, 8.0))
        _, err = process.communicate(timeout=HANG)
    assert process.returncode == 1
    assert err.startswith(f"error: step 1 is of {1 << 60} bytes, not 776; ")
    check(tmp_path / "a.zarr", 1)


def framed(**fields: object) -> bytes:
    whole = {"dims": ["time", "b"], "shape": [4], "dtype": "<c8", "units": "s", "coords": {}}
    text = json.dumps({**whole, **fields}).encode()
    return struct.pack(">I", len(text)) + text


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "a header of 1195725856 bytes"),
        (b"\0\0\0\2{}", "the header is none: 'dims'"),
        (b"\0\0\0\2[}", "the header is none: "),
        (b"\0\0", "the stream ended within the header: 2 of 4 bytes came"),
        (framed(shape=[-1]), "are none"),
        (framed(shape=[1 << 20, 1 << 20]), "are none"),
        (framed(dims=["time", 5]), "are none"),
        (framed(dtype="nothing"), "the header is none: data type"),
        (framed(shape=[4.0]), "steps of shape (4.0,)"),
        (framed(coords=None), "steps of shape"),
        (framed(dtype="<i4"), "got int32"),
        (framed(dims=["time"]), "dims must name time"),
        (framed(coords={"b": [1.0, 2.0]}), "'b' has shape (2,), its axes (4,)"),
    ],
)
def test_what_is_no_correlator_is_one_error(
    tmp_path: Path, wire: ModuleType, data: bytes, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import receiver as script

    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(data)
        ours.shutdown(socket.SHUT_WR)
        options = argparse.Namespace(store=str(tmp_path / "a.zarr"), chunk=2, effort="fast")
        assert script.serve(theirs, options, threading.Event()) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert says in err
    assert err.count("\n") == 1
    assert not (tmp_path / "a.zarr").exists()


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_writes_all_whole_steps_and_ends(
    tmp_path: Path, wire: ModuleType, number: signal.Signals
) -> None:
    store = tmp_path / "a.zarr"
    with receiver(store) as (process, port), connected(wire, port) as connection:
        for i in range(5):
            wire.send_step(connection, 8.0 * i, CUBE[i])
        connection.sendall(b"\0\0\0")  # the beginning of a sixth
        wait_until(lambda: steps_in(store) == 4)
        process.send_signal(number)
        out, err = process.communicate(timeout=HANG)
    assert (process.returncode, err) == (0, "")
    assert out.endswith("holds 5 steps\n")
    check(store, 5)


def test_a_signal_before_any_correlator_came_ends_it(tmp_path: Path) -> None:
    with receiver(tmp_path / "a.zarr") as (process, _):
        process.terminate()
        _, err = process.communicate(timeout=HANG)
    assert err == "error: stopped before a correlator came\n"


@pytest.mark.full
def test_a_kill_leaves_whole_chunks_and_the_next_run_goes_on(
    tmp_path: Path, wire: ModuleType
) -> None:
    store = tmp_path / "a.zarr"
    with receiver(store) as (process, port), connected(wire, port) as connection:
        for i in range(5):
            wire.send_step(connection, 8.0 * i, CUBE[i])
        wait_until(lambda: steps_in(store) == 4)
        process.kill()
    check(store, 4)
    with receiver(store) as (process, port):
        with connected(wire, port) as connection:
            for i in range(4, 7):
                wire.send_step(connection, 8.0 * i, CUBE[i])
        process.communicate(timeout=HANG)
    assert process.returncode == 0
    check(store, 7)


def unread(connection: socket.socket) -> int:
    """Return how many bytes came that nobody has read."""
    (n,) = struct.unpack("i", fcntl.ioctl(connection, termios.FIONREAD, bytes(4)))
    return int(n)


def test_the_queue_is_bounded_and_loses_nothing(wire: ModuleType, incoming: Any) -> None:
    """The reader stops at a full queue, so the sender has to wait; then all steps come."""
    ours, theirs = socket.socketpair()
    theirs.settimeout(wire.LOOK)
    with ours, theirs:
        for i in range(5):
            wire.send_step(ours, float(i), CUBE[i])
        ours.shutdown(socket.SHUT_WR)
        reader = incoming(theirs, header(wire), 2, threading.Event())
        reader.start()
        # two steps in the queue, one that waits for it, two in the socket
        wait_until(lambda: unread(theirs) <= 2 * (wire.STEP.size + CUBE[0].nbytes))
        assert reader.queue.qsize() == 2
        assert unread(theirs) == 2 * (wire.STEP.size + CUBE[0].nbytes)
        assert reader.is_alive()
        came = list(reader)
    assert [moment for moment, _ in came] == [0, 1, 2, 3, 4]
    assert np.stack([step for _, step in came]).tobytes() == CUBE[:5].tobytes()
