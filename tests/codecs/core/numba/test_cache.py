"""Compiled kernels: where they are cached, also where the installation cannot be written to."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import cast

import numba
import pytest

from gangsaw.codecs.core.numba import cache
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.packs.kernel_files import KernelFiles

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

# An editable installation would find its own files first.
ENCODE = """
import sys
from pathlib import Path

sys.meta_path[:] = [finder for finder in sys.meta_path if "Redirect" not in type(finder).__name__]
import numpy as np
import gangsaw
from gangsaw.codecs.core.nucleotides import kernels
from gangsaw.codecs.core.numba.packs.compile_counts import counters

for module in (gangsaw, kernels):
    assert Path(module.__file__).is_relative_to(sys.path[1]), module.__file__
codes = np.empty(4, np.uint8)
kernels.encode_dna(np.frombuffer(b"ACGT", np.uint8), codes)
assert codes.tolist() == [0, 1, 2, 3]
print(counters.count)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "kernel.py").write_text(KERNEL)
    return folder


def run(package: Path, **settings: str) -> list[str]:
    """Path, hits and misses of the cache in a fresh process with these environment variables."""
    return output(start(package, RUN, **settings)).split()


def start(package: Path, code: str, **settings: str) -> subprocess.Popen[str]:
    """Start Python with this folder before all others, and with no cache but the one named."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG", "HOME"))}
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        env={**keep, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


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


@pytest.mark.full
def test_a_damaged_cache_costs_time_only(package: Path, tmp_path: Path) -> None:
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    folder = Path(run(package, **home)[0])
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:100])
    assert run(package, **home)[1:] == ["0", "1"]
    assert run(package, **home)[1:] == ["1", "0"]


@pytest.mark.full
def test_a_cache_that_names_what_another_version_had_costs_time_once(
    package: Path, tmp_path: Path
) -> None:
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    (file,) = Path(run(package, **home)[0]).glob("*.nbc")
    content = b"cgangsaw.codecs.core.numba.as_it_was\nVector\n."
    file.write_bytes(hashlib.sha256(content).digest() + content)
    assert run(package, **home)[1:] == ["0", "1"]
    assert run(package, **home)[1:] == ["1", "0"]


def test_a_cache_that_vanishes_after_import_costs_time_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folders = tmp_path / "cache" / "a", tmp_path / "cache" / "b"
    monkeypatch.setattr(cache, "cache_folders", lambda *_: folders)

    @jit
    def thrice(x: float) -> float:
        return 3 * x

    assert thrice(14) == 42
    assert len(list(folders[0].iterdir())) == 1
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a full disk, a lost mount")
    assert thrice(1.5) == 4.5


@pytest.mark.full
def test_processes_that_compile_at_once_for_different_types_share_no_file(
    package: Path, tmp_path: Path
) -> None:
    """Neither can lead the types of one to the code of the other."""
    home = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    codes = [f"import kernel; print(kernel.twice({x}))" for x in ("21", "1.5")]
    both = [start(package, code, **home) for code in codes]
    assert [output(process) for process in both] == ["42\n", "3.0\n"]
    assert len(list(tmp_path.rglob("*.nbc"))) == 2
    code = "from kernel import twice; print(twice(21), twice(1.5), len(twice.stats.cache_misses))"
    assert output(start(package, code, **home)) == "42 3.0 0\n"


def test_another_type_of_the_same_name_is_not_loaded(tmp_path: Path) -> None:
    """By the types in the file, since its name has only their names."""
    files = KernelFiles((tmp_path,), jit(lambda x: x).py_func)
    name = files.name("a type")
    files.save(name, "one type", lambda: (1, 2))
    assert files.load(name, "one type") == (1, 2)
    assert files.load(name, "another type") is None


@pytest.mark.parametrize("position", [0, 40, -1])
def test_damaged_bytes_are_not_loaded(position: int, tmp_path: Path) -> None:
    files = KernelFiles((tmp_path,), jit(lambda x: x).py_func)
    name = files.name("")
    files.save(name, "types", lambda: (bytes(99),))
    data = bytearray((tmp_path / name).read_bytes())
    data[position] ^= 1
    (tmp_path / name).write_bytes(data)
    assert files.load(name, "types") is None


def test_a_cache_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    """And what is missing there is written next to the source."""
    (tmp_path / "file").write_text("no folder can be below")
    files = KernelFiles((tmp_path / "file/below", tmp_path / "b"), jit(lambda x: x).py_func)
    files.save(files.name(1), 1, lambda: (1,))
    assert files.folder() == tmp_path / "b"
    assert files.load(files.name(1), 1) == (1,)
    files.remove()
    assert files.load(files.name(1), 1) is None


def test_the_name_of_a_file_has_all_that_its_code_depends_on(tmp_path: Path) -> None:
    def made(factor: int) -> FunctionType:
        return cast(FunctionType, lambda x: factor * x)

    def name(function: FunctionType, rest: object = "") -> str:
        return KernelFiles((tmp_path,), function).name(rest)

    assert name(made(2)) == name(made(2))
    assert len({name(made(2)), name(made(3)), name(made(2), "other types")}) == 3


@pytest.mark.parametrize("what", ["numba", "llvmlite"])
def test_other_versions_have_other_folders(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Path(__file__)
    before = cache.cache_folders(source, "a")
    monkeypatch.setattr(import_module(what), "__version__", "0.0.0")
    assert not set(before) & set(cache.cache_folders(source, "a"))


def test_two_modules_of_one_text_have_two_folders() -> None:
    source = Path(__file__)
    assert not set(cache.cache_folders(source, "a")) & set(cache.cache_folders(source, "b"))


def test_two_helpers_that_swap_their_texts_change_the_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = []
    for folder, texts in (("one", ("x = 1", "x = 2")), ("two", ("x = 2", "x = 1"))):
        files = [tmp_path / folder / name for name in ("kernel.py", "a.py", "b.py")]
        (tmp_path / folder).mkdir()
        for file, text in zip(files, ("", *texts), strict=True):
            file.write_text(text)
        imported = {files[0]: tuple(files[1:])}
        monkeypatch.setattr(cache, "_imported", lambda file, of=imported: of.get(file, ()))
        found.append(cache.fingerprint(files[0]))
    assert found[0] != found[1]


@pytest.mark.full
def test_copies_of_the_package_share_the_cache(tmp_path: Path) -> None:
    """As two environments have it, or one before and after a reinstall: paths and times differ."""
    one, two = (copy_package(tmp_path / str(age), age) for age in (0, 999))
    assert compiled(one, tmp_path) == 3
    written = sorted(tmp_path.rglob("*.nbc"))
    assert compiled(two, tmp_path) == 0
    assert sorted(tmp_path.rglob("*.nbc")) == written
    helper = two / "gangsaw/codecs/core/numba/bits.py"
    helper.write_text(f"{helper.read_text()}# changed\n")
    assert compiled(two, tmp_path) == 3


def copy_package(site: Path, age: int) -> Path:
    """Copy the package without its tasks into a folder; its files are `age` seconds older."""
    import gangsaw
    from gangsaw import codecs

    ignored = shutil.ignore_patterns("__pycache__", "codecs", "tasks", "cluster", "kernels")
    shutil.copytree(Path(str(gangsaw.__file__)).parent, site / "gangsaw", ignore=ignored)
    shutil.copytree(
        codecs.__path__[0],
        site / "gangsaw/codecs",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for file in site.rglob("*.py"):
        os.utime(file, (0, file.stat().st_mtime - age))
    return site


def compiled(site: Path, folder: Path) -> int:
    """Encode bases by a copy of the package; return how many kernels were compiled."""
    home = {"XDG_CACHE_HOME": str(folder / "cache"), "GANGSAW_KERNELS": "off"}
    return int(output(start(site, ENCODE, **home)))


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


def test_a_kernel_may_stand_beside_an_import_of_public_names(tmp_path: Path) -> None:
    import_module("gangsaw.tcr")  # a module, no package
    (tmp_path / "kernel.py").write_text("from gangsaw.tcr import count_paths\n")
    (tmp_path / "other.py").write_text("from gangsaw.reads import count_paths\n")
    assert cache.fingerprint(tmp_path / "kernel.py") != cache.fingerprint(tmp_path / "other.py")
