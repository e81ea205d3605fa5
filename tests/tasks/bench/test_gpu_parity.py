"""The checksums that a device is compared with, and the report of a wrong device."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emulator import compile_kernels
from emulator.host_module import schedule
from helpers import host_kernels
from helpers.every_codec import folder

from gangsaw.codecs.core.backends.device import DeviceBackend
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda import launch as core_gpu
from gangsaw.codecs.core.cuda import sources as kernels

FOLDER = Path(__file__).parents[3] / "deploy" / "gpu"
sys.path.append(str(FOLDER))  # its names are parameters of tests

import parity  # noqa: E402

SETUPS = parity.setups()
HOW = "make them again: python deploy/gpu/parity.py --make"
SOME = (
    "ccsds123 default",
    "ccsds123 blocks",
    "visibility fast",
    "visibility blocks",
    "tcr both, two strands, long",
    "tcr V-D-D-J, short",
)


@pytest.fixture
def quick(cupy: ModuleType) -> Iterator[ModuleType]:
    """CuPy without the checks of kernels, which other tests run under them."""
    with schedule(checks=False):
        yield cupy


def test_every_setup_has_checksums_of_its_input() -> None:
    known = parity.known()
    assert known.keys() == SETUPS.keys(), HOW
    assert {name: setup.input() for name, setup in SETUPS.items()} == {
        name: checksums["input"] for name, checksums in known.items()
    }, HOW


@pytest.mark.parametrize("name", SOME)
def test_checksums_are_the_cpus(name: str) -> None:
    assert parity.made(SETUPS[name]) == parity.known()[name], HOW


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(SETUPS.keys() - set(SOME)))
def test_all_checksums_are_the_cpus(name: str) -> None:
    assert parity.made(SETUPS[name]) == parity.known()[name], HOW


@pytest.mark.parametrize("name", SOME)
def test_a_device_is_right(quick: ModuleType, name: str) -> None:
    assert parity.problems(SETUPS[name], parity.known()[name]) == []


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(SETUPS.keys() - set(SOME)))
@pytest.mark.parametrize("cupy", [pytest.param("device", marks=pytest.mark.gpu)], indirect=True)
def test_a_device_is_right_everywhere(quick: ModuleType, name: str) -> None:
    """On emulated kernels the next test runs all setups."""
    try:
        assert parity.problems(SETUPS[name], parity.known()[name]) == []
    except parity.OnHost:
        pytest.skip("this runs on the CPU")


@pytest.mark.full
@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_every_kernel_runs(quick: ModuleType) -> None:
    """Of those that tests compile; arrays of foreign byte order are for the codecs' own tests."""
    known = parity.known()
    for name, setup in SETUPS.items():
        with suppress(parity.OnHost):
            assert parity.problems(setup, known[name]) == [], name
    ran = {
        (f"{package.replace('.', '/')}/{file}", options)
        for _, package, file, options, *_ in core_gpu._modules
    }
    wanted = {
        (
            f"{one.package.replace('.', '/')}/{one.file}",
            kernels.options(compile_kernels.native(one).defines),
        )
        for package in compile_kernels.packages()
        for one in compile_kernels.variants(package)
    }
    assert wanted <= ran


BLOCKS = "ccsds123 blocks"


def planted(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Have GPU backends give other blocks than they do."""
    right = DeviceBackend.encode

    def encode(backend: Any, sources: Any, params: Any, output: Output) -> None:
        own = Output(len(sources))
        right(backend, sources, params, own)
        changed = change(own.runs())
        assert changed.lane_bits is not None
        for i, payload in enumerate(changed.payloads):
            output.give(i, payload, lane_bits=changed.lane_bits[i])

    monkeypatch.setattr(DeviceBackend, "encode", encode)


def test_a_wrong_block_is_named(quick: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def flip(coded: Runs) -> Runs:
        parts = [np.array(part) for part in coded.payloads]
        parts[3][-1] ^= 1
        return Runs(parts, coded.lane_bits)

    planted(monkeypatch, flip)
    assert parity.problems(SETUPS[BLOCKS], parity.known()[BLOCKS]) == ["block 3"]


def test_a_wrong_index_is_named(quick: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def shift(coded: Runs) -> Runs:
        assert coded.lane_bits is not None
        bits = coded.lane_bits.copy()
        bits[0, :2] += (-1, 1)
        return Runs(coded.payloads, bits)

    planted(monkeypatch, shift)
    assert parity.problems(SETUPS[BLOCKS], parity.known()[BLOCKS]) == ["frame"]


def test_a_block_decoded_wrong_is_named(quick: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    right = ChunkCoder.fill

    def fill(coder: ChunkCoder, fetched: Any, outs: Any) -> None:
        right(coder, fetched, outs)
        last = coder.grid.slices(coder.grid.n_blocks - 1)
        outs[0][last] = outs[0][last] + outs[0].dtype.type(1)

    monkeypatch.setattr(ChunkCoder, "fill", fill)
    (found,) = parity.problems(SETUPS[BLOCKS], parity.known()[BLOCKS])
    assert found == f"block {len(parity.known()[BLOCKS]) - 3} decoded"


def test_wrong_counts_are_named(quick: ModuleType) -> None:
    name = "tcr DP-1, short"
    wanted = {**parity.known()[name], "dp1_empty": 1}
    assert parity.problems(SETUPS[name], wanted) == ["dp1_empty"]


def test_another_input_and_missing_checksums_are_told(quick: ModuleType) -> None:
    wanted = {**parity.known()[BLOCKS], "input": 1}
    assert parity.problems(SETUPS[BLOCKS], wanted) == [
        "its input is another here than where the checksums were made"
    ]
    assert parity.problems(SETUPS[BLOCKS], None) == ["no checksum in parity.json"]


def test_what_has_no_kernel_is_told(quick: ModuleType) -> None:
    for name in ("ccsds123 bip", "visibility mean"):
        with pytest.raises(parity.OnHost):
            parity.problems(SETUPS[name], parity.known()[name])


def test_the_program_says_what_differs(
    quick: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("ccsds123 one-sample", BLOCKS, "visibility mean")
    some = {name: SETUPS[name] for name in names}
    known = {name: dict(parity.known()[name]) for name in names}
    known[BLOCKS]["block 1"] ^= 1
    monkeypatch.setattr(parity, "known", lambda: known)
    assert not parity.check(some)
    lines = ["ccsds123 one-sample: right", f"{BLOCKS}: block 1", "visibility mean: runs on the CPU"]
    assert capsys.readouterr().out.splitlines() == lines


@pytest.mark.usefixtures("no_cupy")
def test_a_machine_without_a_device_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["parity.py"])
    assert parity.main() == 1
    assert "CuPy is not installed" in capsys.readouterr().err


COMPILED = """
import sys
sys.path[:0] = sys.argv[1:3]
from contextlib import suppress
from emulator import cupy_standin
from emulator.host_module import schedule
from helpers import host_kernels
from helpers.every_codec import folder
from numba.core import event
import parity

class Listener(event.Listener):
    found = set()
    def on_start(self, e): self.found.add(e.data["dispatcher"].py_func)
    def on_end(self, e): pass

event.register("numba:compile", Listener())
known = parity.known()
with cupy_standin.installed(), schedule(checks=False):
    for name, setup in parity.setups().items():
        if setup.group == sys.argv[3]:
            with suppress(parity.OnHost):
                assert parity.problems(setup, known[name]) == [], name
own = (one for one in Listener.found if one.__module__.startswith("gangsaw."))
print(*sorted(f"{one.__module__}.{one.__qualname__}" for one in own), sep="\\n")
"""
GROUPS = sorted({setup.group for setup in SETUPS.values()})


def test_the_guard_knows_every_codec_with_kernels() -> None:
    """Both directions of each: what is encoded on the device is decoded there."""
    with_kernels = {folder(case.codec_type) for case in parity.gpu_cases()}
    assert with_kernels <= set(GROUPS)


@pytest.mark.full  # a process for each group, which compiles all that the group has
@pytest.mark.parametrize("group", GROUPS)
def test_nothing_is_compiled_for_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    """But for what is listed, with a reason. Numba's own files of other runs do not count."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    paths = str(FOLDER), str(Path(__file__).parents[2])
    command = [sys.executable, "-c", COMPILED, *paths, group]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == sorted(host_kernels.of(group)), host_kernels.HOW
