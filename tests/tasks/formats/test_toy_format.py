"""A format from outside: two paths, streamed, through every command with nothing edited."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine

import gangsaw as package
from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console.cluster import Cluster
from gangsaw.tasks.formats.contract.opening import open_paths, open_source
from gangsaw.tasks.formats.contract.table import formats

if "toy" not in formats():
    pytest.skip("not installed: pip install tests/toy_format", allow_module_level=True)

USAGE, FAILURE = 2, 1
HERE = ("--workers", 0)
SMALL = ("--chunks", 1000)


@pytest.fixture
def mates(tmp_path: Path) -> tuple[Path, Path]:
    """Two files of 2,500 lines each, of different lengths."""
    left, right = tmp_path / "left.toy", tmp_path / "right.toy"
    left.write_text("".join(f"{i}\n" for i in range(2500)))
    right.write_text("".join(f"{i * i}\n" for i in range(2500)))
    return left, right


def test_there_and_back(gangsaw: CommandLine, tmp_path: Path, mates: tuple[Path, Path]) -> None:
    left, right = mates
    store = tmp_path / "out.zarr"
    figures = gangsaw.ok("compress", left, right, store, *HERE, *SMALL, "--json").figures
    assert figures["raw_bytes"] == left.stat().st_size + right.stat().st_size
    assert figures["chunks"] == sum(-(-path.stat().st_size // 1000) for path in mates)
    against = ("--against", left, "--against", right)
    assert gangsaw.ok("verify", store, *against, *HERE, "--json").figures["ok"]
    assert "left_byte, uint8" in gangsaw.ok("info", store).out
    copies = tmp_path / "l.toy", tmp_path / "r.toy"
    gangsaw.ok("decompress", store, *copies, *HERE)
    assert [path.read_bytes() for path in copies] == [path.read_bytes() for path in mates]


def test_the_store_is_as_any_other(tmp_path: Path, mates: tuple[Path, Path]) -> None:
    store = tmp_path / "out.zarr"
    package.compress(mates, store, chunks=(1000,), codec="zstd")
    with xr.open_zarr(store, chunks=None) as data:
        assert data["left"].values.tobytes() == mates[0].read_bytes()
    assert (zarr.open_array(store / "right", mode="r")[:] == np.fromfile(mates[1], "u1")).all()
    assert package.verify(store, against=mates).compared
    (store / "left" / "c" / "2").unlink()
    assert [line for line in package.verify(store).problems if "missing" in line]


def test_the_format_says_what_its_arrays_hold(tmp_path: Path) -> None:
    """Its codec is chosen by that alone: no sample of such lines would prove a text."""
    if "gangsaw.toy" not in codec_table.table():
        pytest.skip("the toy codec is not installed: pip install -e tests/toy_codec")
    sides = tmp_path / "left.toy", tmp_path / "right.toy"
    for side in sides:
        side.write_bytes(bytes(range(128, 256)) * 20 + b"\n")
    package.compress(sides, tmp_path / "a.zarr")
    assert {array.codec for array in package.info(tmp_path / "a.zarr").arrays} == {"gangsaw.toy"}
    copies = tmp_path / "l.toy", tmp_path / "r.toy"
    package.decompress(tmp_path / "a.zarr", copies)
    assert copies[0].read_bytes() == sides[0].read_bytes()
    zarr.create_array(tmp_path / "plain.zarr", data=np.fromfile(sides[0], "u1"))
    package.compress(tmp_path / "plain.zarr", tmp_path / "b.zarr")
    assert package.info(tmp_path / "b.zarr").arrays[0].codec != "gangsaw.toy"


def piped(path: Path, data: bytes) -> Path:
    """Return a pipe that gives these bytes once."""
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(data,), daemon=True).start()
    return path


@pytest.mark.full
def test_from_a_pipe_and_from_standard_input(tmp_path: Path, mates: tuple[Path, Path]) -> None:
    left, right = (path.read_bytes() for path in mates)
    command = [sys.executable, "-c", "import sys; from gangsaw.cli import main; sys.exit(main())"]
    options = ["--workers", "0", "--format", "toy"]
    store, pipe = str(tmp_path / "out.zarr"), str(piped(tmp_path / "a", left))
    subprocess.run([*command, "compress", pipe, "-", store, *options], input=right, check=True)
    pipe = str(piped(tmp_path / "b", left))
    against = [*command, "verify", store, "--against", pipe, "--against", "-", *options]
    subprocess.run(against, input=right, check=True)
    pipe = str(piped(tmp_path / "c", left))
    done = subprocess.run(
        [*command, "verify", store, "--against", pipe, "--against", "-", *options],
        input=right[:-1] + b"!",
        capture_output=True,
        check=False,
    )
    assert done.returncode == FAILURE
    assert b"right: samples 0 to" in done.stderr


def test_an_option_of_opening_that_the_format_brings(
    gangsaw: CommandLine, tmp_path: Path, mates: tuple[Path, Path]
) -> None:
    left, right = mates
    store, same = tmp_path / "a.zarr", tmp_path / "b.zarr"
    against = ("--against", left, "--against", right)
    gangsaw.ok("compress", left, right, store, "--skip", 2, *HERE)
    assert zarr.open_array(store / "right", mode="r")[:].tobytes() == right.read_bytes()[4:]
    gangsaw.ok("verify", store, *against, "--skip", 2, *HERE)
    assert gangsaw("verify", store, *against, *HERE).code == FAILURE
    package.compress(mates, same, skip=2)
    assert package.verify(same, against=mates, skip=2).ok
    assert package.verify(same, against=mates, skip="2").ok
    line = gangsaw("verify", store, "--skip", 2, *HERE).failed(USAGE)
    assert "--skip describes a source: name the source by --against" in line
    line = gangsaw("compress", left, right, store, "--skip", "two", *HERE).failed(USAGE)
    assert "--skip cannot be 'two'" in line
    line = gangsaw("compress", left, right, store, "--skip=-4", *HERE).failed(USAGE)
    assert "--skip must be 0 or more lines, got -4" in line


def test_an_option_of_exporting_that_the_format_brings(
    gangsaw: CommandLine, tmp_path: Path, mates: tuple[Path, Path]
) -> None:
    store, copies = tmp_path / "a.zarr", (tmp_path / "l.toy", tmp_path / "r.toy")
    package.compress(mates, store, chunks=(1000,))
    gangsaw.ok("decompress", store, *copies, "--line-end", "crlf", *HERE)
    changed = mates[0].read_bytes().replace(b"\n", b"\r\n")
    assert copies[0].read_bytes() == changed
    package.decompress(store, copies, overwrite=True)
    assert copies[0].read_bytes() == mates[0].read_bytes()
    package.decompress(store, copies, overwrite=True, line_end="crlf")
    assert copies[0].read_bytes() == changed
    line = gangsaw("decompress", store, *copies, "--line-end", "cr", *HERE).failed(USAGE)
    assert "--line-end must be lf or crlf, got 'cr'" in line


@pytest.mark.parametrize(
    ("command", "panel", "option"),
    [
        ("compress", "Source: signed toy and toy", "--skip"),
        ("verify", "Source: signed toy and toy", "--skip"),
        ("decompress", "Target: signed toy and toy", "--line-end"),
    ],
)
def test_a_panel_of_the_help_lists_them(
    gangsaw: CommandLine, monkeypatch: pytest.MonkeyPatch, command: str, panel: str, option: str
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = gangsaw.ok(command, "--help-all").out
    assert option in text[text.index(panel) :].partition("╰")[0]


def test_an_option_that_no_plugin_has(tmp_path: Path, mates: tuple[Path, Path]) -> None:
    with pytest.raises(BadParams, match="no codec or format has an option 'skipp'"):
        package.compress(mates, tmp_path / "a.zarr", skipp=2)
    with pytest.raises(BadParams, match="has no --skipp; it has --skip"):
        package.verify(tmp_path, against=mates, skipp=2)
    with pytest.raises(BadParams, match="is open: --skip comes too late"):
        package.compress(open_paths([str(path) for path in mates]), tmp_path / "a.zarr", skip=2)


def test_a_stream_that_differs_in_length(tmp_path: Path, mates: tuple[Path, Path]) -> None:
    package.compress(mates, tmp_path / "out.zarr", chunks=(1000,))
    whole = mates[1].read_text()
    mates[1].write_text(whole.rstrip("\n") + "0\n")
    (line,) = package.verify(tmp_path / "out.zarr", against=mates).problems
    assert f"right: the store has {len(whole)} samples, the source {len(whole) + 1}" in line


def test_what_is_refused(gangsaw: CommandLine, tmp_path: Path, mates: tuple[Path, Path]) -> None:
    left, right = mates
    store = tmp_path / "out.zarr"
    assert "toy takes 2 paths, not 1" in gangsaw("compress", left, store, *HERE).failed(USAGE)
    command = ("compress", left, right, store, *HERE)
    assert "cannot be resumed" in gangsaw(*command, "--resume").failed(USAGE)
    assert "no scan for --bit-depth auto" in gangsaw(*command, "--bit-depth", "auto").failed(USAGE)
    assert "it grows" in gangsaw(*command, "--chunks=-1").failed(USAGE)
    assert "has no axis 'y'" in gangsaw(*command, "--chunks", "y=2").failed(USAGE)
    line = gangsaw("compress", left, "-", store, *HERE).failed(USAGE)
    assert "is a stream of no known format: pass --format" in line
    assert "signedtoy, text or toy" in line
    line = gangsaw("compress", "-", store, "--format", "envi", *HERE).failed(USAGE)
    assert "- is a stream: ENVI is read from files alone" in line
    with pytest.raises(BadParams, match="can only be read once"):
        open_source([str(left), str(right)])
    assert not store.exists()
    right.write_text("one line\n")
    assert "fewer lines than the other" in gangsaw(*command).failed(USAGE)


def test_a_stream_goes_to_the_workers_that_are_asked_for(
    gangsaw: CommandLine,
    tmp_path: Path,
    mates: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without a word of them it stays in this process."""
    asked: list[tuple[Any, ...]] = []

    @contextmanager
    def session(panel: Cluster, job: object) -> Iterator[None]:
        asked.append((panel.is_here, panel.workers, panel.scheduler, panel.device))
        yield None

    monkeypatch.setattr(Cluster, "session", session)
    command = ("compress", *mates, tmp_path / "out.zarr", "--overwrite")
    for more in ((), ("--workers", 3), ("--scheduler", "tcp://there:1")):
        gangsaw.ok(*command, *more)
    assert asked == [
        (True, 0, "", "cpu"),
        (False, 3, "", "cpu"),
        (False, None, "tcp://there:1", "cpu"),
    ]


def test_an_old_store_stays_until_the_new_one_is_whole(
    gangsaw: CommandLine, tmp_path: Path, mates: tuple[Path, Path]
) -> None:
    left, right = mates
    store = tmp_path / "out.zarr"
    command = ("compress", left, right, store, *HERE, *SMALL)
    gangsaw.ok(*command)
    assert "exists: give another name, or --overwrite" in gangsaw(*command).failed(USAGE)
    whole = right.read_text()
    right.write_text("".join(whole.splitlines(True)[:-1]))  # found at the end of the stream
    gangsaw(*command, "--overwrite").failed(USAGE)
    gangsaw.ok("verify", store, *HERE)
    right.write_text(whole)
    gangsaw.ok(*command, "--overwrite")
    gangsaw.ok("verify", store, "--against", left, "--against", right, *HERE)
    assert not list(tmp_path.glob(".out*"))


def test_a_stage_goes_before(
    gangsaw: CommandLine, tmp_path: Path, mates: tuple[Path, Path]
) -> None:
    """A stage is a job with its own store next to the target, until that is complete."""
    left, right = (path.rename(path.with_suffix(".signed")) for path in mates)
    store, against = tmp_path / "out.zarr", ("--against", left, "--against", right)
    command = ("compress", left, right, store, *HERE)
    gangsaw.ok(*command)
    pairs = zip(left.read_bytes().splitlines(), right.read_bytes().splitlines(), strict=True)
    signatures = zarr.open_array(store / "signature", mode="r")[:]
    assert signatures.tolist() == [zlib.crc32(a + b) for a, b in pairs]
    gangsaw.ok("verify", store, *against, *HERE)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "left.signed",
        "out.zarr",
        "right.signed",
    ]
    assert "exists: give another name" in gangsaw(*command).failed(USAGE)
    right.write_bytes(right.read_bytes()[:-2] + b"x\n")
    ran = gangsaw("verify", store, *against, *HERE, "--json")
    problems = ran.figures["problems"]
    assert [line for line in problems if "out.zarr/signature" in line and "differ from" in line]
    gangsaw.ok(*command, "--overwrite")
    gangsaw.ok("verify", store, *against, *HERE)


def test_what_a_stage_made_stays_until_the_store_is_whole(
    gangsaw: CommandLine,
    tmp_path: Path,
    mates: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left, right = (path.rename(path.with_suffix(".signed")) for path in mates)
    command = ("compress", left, right, tmp_path / "out.zarr", *HERE)
    gangsaw(*command, "--chunks", "record=-2").failed(USAGE)
    beside = tmp_path / ".out.zarr.gangsaw-stage-sign"
    assert package.verify(beside).ok
    gangsaw.ok(*command)
    assert not beside.exists()
