"""What a job on a GPU leaves to the host: it is not uploaded, has all cores, and is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emulator.host_module import schedule
from helpers.command_line import CommandLine
from helpers.job_data import cube, raw_source

from gangsaw.codecs import Ccsds123, Dna, Reads, Visibility
from gangsaw.codecs.core import record
from gangsaw.tasks.api import functions
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.chunks.device import DeviceCoder
from gangsaw.tasks.jobs.compress import compress
from gangsaw.tasks.jobs.runs.arrays import ArrayWork, run_arrays
from gangsaw.tasks.jobs.streams.stream_plan import StreamHead

SHAPE = (3, 40, 20)
GPU = Options(device="gpu")


@pytest.fixture
def quick(cupy: ModuleType) -> Iterator[ModuleType]:
    """CuPy without the checks of kernels, which other tests run under them."""
    with schedule(checks=False):
        yield cupy


def backends() -> list[str]:
    """What encoded and decoded chunks in this worker since the last call."""
    found = sorted({backend for _, _, backend in record.snapshot()})
    record.reset()
    return found


TEXT = np.frombuffer(b"ACGTTGCA\nACGA\n" * 50, np.uint8)
BEGINS = np.arange(700, dtype="u8") * 9


@pytest.mark.parametrize(
    ("codec", "samples", "encoded", "decoded"),
    [
        (Ccsds123(), cube((3, 8, 8)), True, True),
        (Ccsds123(order="bi"), cube((3, 8, 8)), False, False),
        (Ccsds123(coder="block"), cube((3, 8, 8)), False, False),
        (Visibility(), np.ones((4, 8, 3), "c8"), True, True),
        (
            Visibility(predictor="mean", residual="xor", packing="bits"),
            np.ones((4, 8, 3), "c8"),
            False,
            False,
        ),
        (Reads(kind="sequence"), TEXT, False, True),
        (Reads(kind="quality"), TEXT, False, True),
        (Reads(kind="name"), TEXT, False, True),
        (Reads(kind="offset"), BEGINS, True, True),
        (Dna(mode="pack"), TEXT, True, True),
        (Dna(mode="dense"), TEXT, True, True),
    ],
    ids=[
        *("ccsds123", "ccsds123-bi", "ccsds123-block", "visibility", "construction"),
        *("sequence", "quality", "name", "offset", "dna-pack", "dna-dense"),
    ],
)
def test_what_no_kernel_does_is_not_uploaded_and_is_told(
    tmp_path: Path,
    quick: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    codec: Any,
    samples: Any,
    encoded: bool,
    decoded: bool,
) -> None:
    # named, for axes that no name tells are found by encoding samples here
    array = MemoryArray(samples, ("band", "y", "x")[: samples.ndim], "one", {})
    source = StreamHead("it", (array,), (), {})
    record.reset()
    uploads: list[int] = []
    right = DeviceCoder.upload

    def upload(coder: DeviceCoder, samples: Any, copies: Any) -> Any:
        uploads.append(samples.nbytes)
        return right(coder, samples, copies)

    monkeypatch.setattr(DeviceCoder, "upload", upload)
    done = compress(source, tmp_path / "a.zarr", codec=codec, options=GPU)
    assert backends() == ["gpu" if encoded else "cpu"]
    told = ("encoded on the host, for no kernel does it: one",)
    assert done.notes == (() if encoded else told)
    assert bool(uploads) == encoded
    report = functions.verify(tmp_path / "a.zarr", device="gpu")
    assert report.ok
    assert backends() == ["gpu" if decoded else "cpu"]
    assert bool(report.notes) != decoded


READS = "".join(f"@r{i}\n{'ACGTTGCA' * 5}\n+\n{'FFF:F,F#' * 5}\n" for i in range(500))
READS_LEFT = "d on the host, for no kernel does it: "


def test_commands_tell_what_runs_on_the_host(
    gangsaw: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick: ModuleType
) -> None:
    """In text and in JSON; so does one that finds its stream stored already."""
    monkeypatch.chdir(tmp_path)
    Path("a.fastq").write_text(READS)
    on_gpu = "--device", "gpu", "--workers", "0"
    first = gangsaw.ok("compress", "a.fastq", "a.zarr", *on_gpu, "--json").figures
    (note,) = [one for one in first["notes"] if READS_LEFT in one]
    assert note.startswith("encode")
    assert {"sequence", "quality", "name"} <= set(note.partition(": ")[2].split(", "))
    again = "compress", "a.fastq", "a.zarr", *on_gpu, "--resume"
    assert gangsaw.ok(*again, "--json").figures["notes"] == [note]
    assert READS_LEFT in " ".join(gangsaw.ok(*again).out.split())
    assert READS_LEFT not in gangsaw.ok(*again[:3], "--resume").out
    compress(raw_source(tmp_path, SHAPE), "raw.zarr", codec=Ccsds123(order="bi"))
    checked = "verify", "raw.zarr", *on_gpu
    assert gangsaw.ok(*checked, "--json").figures["notes"] == [f"decode{READS_LEFT}data"]
    assert READS_LEFT in " ".join(gangsaw.ok(*checked).out.split())


def test_what_no_device_does_is_done_as_without_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """By every thread of every worker, after what the device does; results keep their number."""
    runs: list[tuple[str, list[int]]] = []

    def run(task: Any, items: Any, done: Any, *, client: object, options: Options) -> None:
        runs.append((options.device, [item.batch for item in items]))
        for item in items:
            done(item, item.batch)

    monkeypatch.setattr("gangsaw.tasks.jobs.runs.arrays.run_batches", run)
    function: Any = None
    works: list[ArrayWork[int, int]] = [
        ArrayWork(function, [1, 2], 8, 9),
        ArrayWork(function, [3], 8, 9, launch_batches=2),
        ArrayWork(function, [4], 8, 9),
    ]
    found: list[tuple[int, int]] = []
    run_arrays("it", works, lambda *pair: found.append(pair), options=GPU)
    assert runs == [("gpu", [3]), ("cpu", [1, 2, 4])]
    assert found == [(1, 3), (0, 1), (0, 2), (2, 4)]
