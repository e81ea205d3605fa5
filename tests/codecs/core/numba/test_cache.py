"""Compiled kernels: where they are cached, also where the installation cannot be written to."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from gangsaw.codecs.core.numba import cache
from gangsaw.codecs.core.numba.jit import jit

KERNEL = """
from gangsaw.codecs.core.numba.jit import jit

@jit
def twice(x):
    return 2 * x
"""
RUN = """
import kernel
assert kernel.twice.stats.cache_hits == {} and not kernel.twice.signatures, "compiled at import"
assert kernel.twice(21) == 42
stats = kernel.twice.stats
print(stats.cache_path, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "kernel.py").write_text(KERNEL)
    return folder


def run(package: Path, **settings: str) -> list[str]:
    """Path, hits and misses of the cache in a fresh process with these environment variables."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG", "HOME"))}
    environment = {**keep, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **settings}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def block(folder: Path) -> str:
    """A path where not even root can make a folder: it is under a file."""
    folder.write_text("a file")
    return str(folder / "below")


def test_a_second_process_loads_what_the_first_compiled(package: Path, tmp_path: Path) -> None:
    home = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    first, second = run(package, **home), run(package, **home)
    assert first[1:] == ["0", "1"]
    assert second[1:] == ["1", "0"]
    assert Path(first[0]).is_relative_to(tmp_path / "cache/gangsaw/numba")


def test_numba_cache_dir_is_honoured(package: Path, tmp_path: Path) -> None:
    path, *_ = run(package, NUMBA_CACHE_DIR=str(tmp_path / "mine"))
    assert Path(path).is_relative_to(tmp_path / "mine")


def test_nothing_writable_compiles_without_a_cache(package: Path, tmp_path: Path) -> None:
    nowhere = block(tmp_path / "file")
    (package / "__pycache__").write_text("no folder can be here")
    assert run(package, XDG_CACHE_HOME=nowhere, HOME=nowhere) == ["None", "0", "1"]


def test_a_damaged_cache_costs_time_only(package: Path, tmp_path: Path) -> None:
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    folder = Path(run(package, **home)[0])
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:100])
    assert run(package, **home)[1:] == ["0", "1"]
    assert run(package, **home)[1:] == ["1", "0"]


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_cache_that_names_what_another_version_had_costs_time_once(
    package: Path, tmp_path: Path, suffix: str
) -> None:
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    (file,) = Path(run(package, **home)[0]).glob(f"*.{suffix}")
    version = pickle.dumps(numba.__version__) if suffix == "nbi" else b""
    file.write_bytes(version + b"cgangsaw.codecs.core.numba.as_it_was\nVector\n.")
    assert run(package, **home)[1:] == ["0", "1"]
    assert run(package, **home)[1:] == ["1", "0"]


def test_a_cache_that_vanishes_after_import_costs_time_only(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))

        @jit
        def thrice(x: int) -> int:
            return 3 * x

    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a full disk, a lost mount")
    assert thrice(14) == 42


def test_processes_that_compile_at_once_share_no_file(package: Path, tmp_path: Path) -> None:
    """The second does not see the index of the first, as where both began with none."""
    home = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    run(package, **home)
    (index,) = tmp_path.rglob("*.nbi")
    index.unlink()
    run(package, **home)
    assert len(list(tmp_path.rglob("*.nbc"))) == 2


def test_the_users_own_setting_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jit(lambda x: x)
    assert numba.config.CACHE_DIR == ""


def test_a_change_in_what_a_kernel_imports_makes_a_new_cache(tmp_path: Path) -> None:
    """At one remove, and for constants too: Numba freezes globals."""
    source = tmp_path / "kernel.py"
    source.write_text("from gangsaw.codecs.core.container.frame import (\n    lane_bytes,\n)\n")
    names = {file.name for file in cache._imported(source)}
    assert "frame.py" in names
    frame = next(file for file in cache._imported(source) if file.name == "frame.py")
    assert {"runs.py", "errors.py"} <= {file.name for file in cache._imported(frame)}
    before = cache.fingerprint(source)
    other = tmp_path / "other.py"
    other.write_text(source.read_text() + "x = 1\n")
    assert cache.fingerprint(other) != before


def test_changes_elsewhere_keep_the_cache() -> None:
    """What no kernel imports: an edit there must not compile everything again."""
    from gangsaw.codecs.core.numba import bits

    files = {Path(bits.__file__)}
    while new := {f for file in files for f in cache._imported(file)} - files:
        files |= new
    assert "block_codec.py" not in {file.name for file in files}
