"""Compiled kernels on disk: one process compiles, and no damaged file is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gangsaw.codecs.core.cuda import compiling, kernel_files
from gangsaw.codecs.core.cuda.compiling import Compiled, CompileError
from gangsaw.codecs.core.cuda.kernel_files import kernel_file

OPTIONS = ("-std=c++17",)
# as in another process: nothing is compiled but what no file holds
OTHER = """
from gangsaw.codecs.core.cuda import compiling
from gangsaw.codecs.core.cuda.compiling import Compiled
from gangsaw.codecs.core.cuda.kernel_files import kernel_file

def compile_kernel(*_):
    print("compiled")
    return Compiled(b"code", b"", "")

compiling.compile_kernel, compiling.compiler_version = compile_kernel, lambda: "stub 1"
print(kernel_file("text", (), "sm_90"))
"""


class Stub:
    """A compiler that counts, and whose code says what went into it."""

    version = "stub 1"

    def __init__(self) -> None:
        self.calls = 0

    def compile(self, source: str, options: Sequence[str], architecture: str) -> Compiled:
        self.calls += 1
        return Compiled(repr((source, tuple(options), architecture)).encode(), b"", "")


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stub:
    stub = Stub()
    monkeypatch.setattr(compiling, "compile_kernel", stub.compile)
    monkeypatch.setattr(compiling, "compiler_version", lambda: stub.version)
    monkeypatch.setattr(kernel_files, "kernel_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(kernel_files, "_own_folder", lambda: tmp_path)
    return stub


def test_what_was_compiled_is_found_again(compiler: Stub) -> None:
    paths = {kernel_file("text", OPTIONS, "sm_90") for _ in range(3)}
    (path,) = paths
    assert compiler.calls == 1
    assert path.read_bytes() == repr(("text", OPTIONS, "sm_90")).encode()
    assert [*path.parent.iterdir()] == [path]


def test_all_that_goes_into_code_makes_another_file(
    compiler: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [
        kernel_file("text", OPTIONS, "sm_90"),
        kernel_file("texts", OPTIONS, "sm_90"),
        kernel_file("text", (*OPTIONS, "-DA=1"), "sm_90"),
        kernel_file("text", OPTIONS, "sm_80"),
    ]
    compiler.version = "stub 2"
    paths.append(kernel_file("text", OPTIONS, "sm_90"))
    monkeypatch.setattr(compiling, "FLOATS", ("--ftz=true",))
    paths.append(kernel_file("text", OPTIONS, "sm_90"))
    assert compiler.calls == len(set(paths)) == 6


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", OTHER]
    first, second = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    said, path = first.stdout.split()
    assert said == "compiled"
    assert second.stdout.split() == [path]
    assert Path(path).is_relative_to(tmp_path / "gangsaw")


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-1], lambda code: b"x" + code[1:], bytes.upper]
)
def test_damaged_files_are_compiled_again(compiler: Stub, damage: Callable[[bytes], bytes]) -> None:
    path = kernel_file("text", OPTIONS, "sm_90")
    code = path.read_bytes()
    path.write_bytes(damage(code))  # type: ignore[operator]
    assert kernel_file("text", OPTIONS, "sm_90") == path
    assert compiler.calls == 2
    assert path.read_bytes() == code
    kernel_file("text", OPTIONS, "sm_90")
    assert compiler.calls == 2


def test_a_folder_that_cannot_be_written_is_no_obstacle(compiler: Stub, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")  # not even root makes a folder there
    path = kernel_file("text", OPTIONS, "sm_90")
    assert path.read_bytes() == repr(("text", OPTIONS, "sm_90")).encode()
    assert kernel_file("text", (), "sm_90") != path


def test_a_read_only_folder_is_read(
    compiler: Stub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = kernel_file("text", OPTIONS, "sm_90")

    def refuse(**_: object) -> object:
        raise PermissionError("read-only file system")

    monkeypatch.setattr(kernel_files.tempfile, "mkstemp", refuse)
    assert kernel_file("text", OPTIONS, "sm_90") == path
    assert compiler.calls == 1
    with pytest.raises(CompileError, match="no folder to keep it in: read-only"):
        kernel_file("other", OPTIONS, "sm_90")


def test_a_full_disk_leaves_no_halves(
    compiler: Stub, tmp_path: Path, tmpfs: Callable[[str], Path]
) -> None:
    full = tmpfs("size=4k")
    (tmp_path / "cache").symlink_to(full)
    text = "a long text " * 1000
    path = kernel_file(text, OPTIONS, "sm_90")
    assert not path.is_relative_to(full)
    assert path.stat().st_size > len(text)
    assert not [*full.iterdir()]


def test_no_home_is_no_obstacle(compiler: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_files, "kernel_folder", lambda: Path(os.devnull) / "cuda")
    assert kernel_file("text", OPTIONS, "sm_90").is_file()
    assert compiler.calls == 1


def test_a_folder_of_ones_own_goes_with_the_process(tmp_path: Path) -> None:
    nowhere = {"XDG_CACHE_HOME": os.devnull, "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-c", OTHER + "import os; print(os.listdir(%r))"]
    command[-1] %= str(tmp_path)
    done = subprocess.run(
        command, env={**os.environ, **nowhere}, capture_output=True, text=True, check=True
    )
    assert str(tmp_path) in done.stdout
    assert "gangsaw-" in done.stdout.splitlines()[-1]
    assert not done.stderr
    assert not [*tmp_path.iterdir()]
