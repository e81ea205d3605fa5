"""Helper processes compile what lists name, and end with who started them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from helpers.hang import wait_until

from gangsaw.codecs.core.memory.threads import VARIABLE as THREADS
from gangsaw.codecs.core.numba.packs import pack_files
from gangsaw.codecs.core.numba.packs.ahead import compile_listed
from gangsaw.codecs.core.numba.packs.ahead import helpers as ahead
from gangsaw.codecs.core.numba.packs.ahead.kernel_lists import (
    KernelList,
    ListedKernel,
    list_files,
    parse_line,
    read_lists,
    write_lists,
)
from gangsaw.codecs.core.numba.packs.ahead.type_text import parse_types, write_types

KERNELS = """
from gangsaw.codecs.core.numba.jit import jit

@jit
def first(data): return data[0]

@jit
def second(data): return data[1]
"""
SLEEPS = """
import os, time

if not os.environ["GANGSAW_COMPILE_AHEAD"]:  # in a helper
    open("begun", "x").close()
    time.sleep(3600)

def kernel(): pass
kernel.compile = None
kernel._cache = type("Empty", (), {"holds": lambda self, types: False})()
"""
CALLS = """
import os, sys, time
import numpy as np
from gangsaw.codecs.core.numba.packs import compiling
from gangsaw.codecs.core.numba.packs.ahead import helpers as ahead
from gangsaw.codecs.core.numba.packs.ahead.kernel_lists import KernelList, parse_line
import listed_kernels

lines = open("lines").read().splitlines()
ahead.lists_of = lambda command: (KernelList(command, ("run",), tuple(map(parse_line, lines))),)
listed_kernels.first(np.arange(9))
helpers = ahead._now.helpers
print(*[helper.pid for helper in helpers], flush=True)
if "wait" in sys.argv:
    for helper in helpers:
        helper.wait()
    with compiling.level_codegen():
        print(listed_kernels.second._cache.holds(listed_kernels.first.signatures[0]))
    sys.exit()
time.sleep(3600)
"""


def start(folder: Path, *arguments: str, **more: str) -> subprocess.Popen[str]:
    """Start a process that calls `first`, with a list that has `second`, too."""
    (folder / "listed_kernels.py").write_text(KERNELS, encoding="ascii")
    (folder / "sleeps.py").write_text(SLEEPS, encoding="ascii")
    lines = [f"9.0 1 all listed_kernels:{name} (int64[1C])\n" for name in ("first", "second")]
    lines += ["9.0 1 all sleeps:kernel (int64[1C])\n"] if "wait" not in arguments else []
    (folder / "lines").write_text("".join(lines), encoding="ascii")
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        pack_files.FOLDERS: pack_files.OFF,
        ahead.COMMAND: "compress",
        THREADS: "2",
        **more,
    }
    return subprocess.Popen(
        [sys.executable, "-c", CALLS, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.full
def test_a_helper_compiles_what_is_not_called_yet(tmp_path: Path) -> None:
    with start(tmp_path, "wait") as process:
        assert len(said(process).split()) == 1
        assert said(process) == "True\n"
    assert process.returncode == 0


@pytest.mark.full
@pytest.mark.parametrize(
    "more", [{THREADS: "1"}, {ahead.COMMAND: ""}], ids=["one core", "nobody asked"]
)
def test_without_a_helper_nothing_is_lost(tmp_path: Path, more: Mapping[str, str]) -> None:
    with start(tmp_path, "wait", **more) as process:
        assert said(process) == "\n"
        assert said(process) == "False\n"
    assert process.returncode == 0


def test_a_cache_that_cannot_be_written_starts_no_helper(tmp_path: Path) -> None:
    with start(tmp_path, "wait", NUMBA_CACHE_DIR=os.devnull) as process:
        assert said(process) == "\n"
        assert said(process) == "False\n"
    assert process.returncode == 0


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_helpers_end_with_who_started_them(tmp_path: Path, number: signal.Signals) -> None:
    """Whatever ends it; and none writes a traceback of its own."""
    with start(tmp_path) as process:
        helper = int(said(process).strip() or 0)
        assert helper
        wait_until(lambda: (tmp_path / "begun").exists())  # the helper is at work, and would sleep
        assert is_running(helper)
        process.send_signal(number)
    wait_until(lambda: not is_running(helper))


def is_running(process: int) -> bool:
    """Whether a process is there that has not ended."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] != "Z"


def listed(*names: str) -> KernelList:
    return KernelList("compress", ("run",), tuple(ListedKernel(name, "()", 1.0) for name in names))


def test_what_all_lists_have_is_expected_until_one_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lists = (listed("a:read", "b:one", "b:last"), listed("a:read", "c:other", "b:last"))
    monkeypatch.setattr(ahead, "lists_of", lambda _: lists)
    monkeypatch.setattr(ahead, "_now", ahead._Ahead())
    for missed, expected in (
        ("a:read ()", ["a:read", "b:last"]),
        ("b:one ()", ["a:read", "b:one", "b:last"]),
        ("b:last ()", ["a:read", "b:one", "b:last"]),
        ("of:another ()", []),
    ):
        ahead._now.missed.add(missed)
        found = ahead._expected("compress", missed)
        assert [kernel.function for kernel in found] == expected


@pytest.mark.parametrize("path", list_files().values(), ids=lambda path: path.parent.name)
def test_each_line_of_a_list_names_a_kernel_and_types(path: Path, tmp_path: Path) -> None:
    """Whoever renames a kernel, or gives it other arguments, writes the list again.

    `gangsaw kernels list --write --domain NAME` does.
    """
    lists = list(read_lists(path))
    for kernel in {kernel.key: kernel for one in lists for kernel in one.kernels}.values():
        types = parse_types(kernel.types)
        assert write_types(types) == kernel.types
        dispatcher = compile_listed.find_kernel(kernel)
        assert dispatcher is not None or kernel.vectors != "all", kernel.key
        if dispatcher is not None:
            assert len(types) == dispatcher.py_func.__code__.co_argcount, kernel.key
        assert parse_line(kernel.line()) == kernel
    write_lists(tmp_path / "list", lists)
    assert (tmp_path / "list").read_text(encoding="ascii") == path.read_text(encoding="ascii")


@pytest.mark.parametrize("text", ["", "int64", "(int64", "(int65)", "(int64[1C])x", "(int64))"])
def test_other_text_is_no_types(text: str) -> None:
    with pytest.raises(ValueError, match="type"):
        parse_types(text)
