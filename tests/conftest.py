"""Fixtures of all tests."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from emulator import cupy_standin
from helpers.command_line import CommandLine
from helpers.tiers import quick_tier
from helpers.xarray_stores import open_groups
from hypothesis import settings

if TYPE_CHECKING:
    from gangsaw.tasks.sources.source import Source
    from gangsaw.tasks.store.arrays.layout import ArrayLayout

# time says nothing of what is right, on machines that are shared and where kernels compile
settings.register_profile("gangsaw", deadline=None)
settings.load_profile("gangsaw")
# a shell that runs a script starts what is behind `&` with SIGINT ignored, and so would our jobs be
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# on a cold cache commands say on stderr that they compile; tests look at what else is there
os.environ.setdefault("GANGSAW_TELL_KERNELS", "")
# the workers of pytest use all cores already
os.environ.setdefault("GANGSAW_COMPILE_AHEAD", "")

REPOSITORY = Path(__file__).resolve().parents[1]


def shared_folder() -> Path:
    """Folder of real scenes and third-party streams: GANGSAW_SHARED, else next to the clone."""
    return Path(os.environ.get("GANGSAW_SHARED", REPOSITORY.parent / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of real data; the test is skipped where it is absent."""
    folder = shared_folder()
    if not (folder / "data").is_dir():
        pytest.skip(f"no data folder in {folder}: set GANGSAW_SHARED to the folder that has it")
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-golden",
        action="store_true",
        help="add the golden files of samples that have none; overwrite nothing",
    )
    parser.addoption(
        "--fuzz-seconds", type=float, help="for each target of tests/fuzz, not a few attempts"
    )
    parser.addoption("--fuzz-seed", type=int, default=0, help="of the damage")
    parser.addoption(
        "--all",
        action="store_true",
        help="run every case of every test, those of minutes too; without it the quick tier runs",
    )
    parser.addoption(
        "--except-quick", action="store_true", help="with --all: leave out what the quick tier runs"
    )


@pytest.hookimpl(tryfirst=True)  # before xdist starts its processes
def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile what first commands call by all cores, if the whole suite runs in processes."""
    config = session.config
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_whole and config.getoption("numprocesses", None) and not config.option.collectonly:
        from helpers.warm_kernels import warm_kernels

        warm_kernels()


@pytest.hookimpl(trylast=True)  # after markers have selected
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # a process would wait for what takes minutes, were it the last
    items.sort(key=lambda item: item.get_closest_marker("full") is None)
    every = config.getoption("--all") or config.getoption("--write-golden")
    if every and not config.getoption("--except-quick"):
        return
    if every or not any("::" in name for name in config.args):
        quick, others = quick_tier(items)
        items[:], left = (others, quick) if every else (quick, others)
        config.hook.pytest_deselected(items=left)


@pytest.fixture(params=["emulated", pytest.param("device", marks=pytest.mark.gpu)])
def cupy(request: pytest.FixtureRequest) -> Iterator[ModuleType]:
    """CuPy: the stand-in over emulated kernels, or with -m gpu the real one on a device."""
    if request.param == "emulated":
        with cupy_standin.installed() as module, _forgotten():
            yield module
        return
    module = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not module.is_available():
        pytest.skip("no CUDA device on this machine")
    yield module


@pytest.fixture
def no_cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine where CuPy is not installed."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    with _forgotten():
        yield


@contextmanager
def _forgotten() -> Iterator[None]:
    """Let the package look for CuPy again, now and afterwards."""
    from gangsaw.codecs.core.cuda import device
    from gangsaw.codecs.core.cuda import launch as gpu

    def forget() -> None:
        device.cupy.cache_clear()
        gpu.forget_modules()

    forget()
    yield
    forget()


@pytest.fixture(autouse=True)
def stores_open_in_xarray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every store that a job of a test finishes in this process is opened by plain xarray.

    Not so copies in Zarr, whose axes are called as in their source: xarray may not read that.
    """
    from gangsaw.tasks.jobs import compress
    from gangsaw.tasks.store.skeleton import Skeleton, build_skeleton
    from gangsaw.tasks.store.state.target import Target

    publish, copied = Target.publish, [False]

    def noted(source: Source, layouts: Mapping[str, ArrayLayout]) -> Skeleton:
        copied[0] = getattr(source, "gives_back_axes", False)
        return build_skeleton(source, layouts)

    def and_open(target: Target) -> None:
        publish(target)
        if not copied[0]:
            open_groups(target.final)
        copied[0] = False

    monkeypatch.setattr(compress, "build_skeleton", noted)
    monkeypatch.setattr(Target, "publish", and_open)


@pytest.fixture
def gangsaw(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line, in this process."""
    return CommandLine(capsys)


@pytest.fixture
def tmpfs(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts small file systems, by their options, as only root may."""
    mounted: list[Path] = []

    def mount(options: str) -> Path:
        folder = tmp_path / f"tmpfs{len(mounted)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        if os.name != "posix" or os.geteuid() != 0 or shutil.which("mount") is None:
            pytest.skip("only root can mount a file system that is full or read-only")
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("this machine lets not even root mount a tmpfs")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)
