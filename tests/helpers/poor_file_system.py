"""File systems that lack what Linux's own have, shown by a library that is loaded before."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.hang import HANG

SOURCE = Path(__file__).with_name("poor_file_system.c")
LACKS = ("link", "fallocate", "dirsync", "case")


def library(folder: Path) -> Path:
    """Compile the library; skip where that is impossible."""
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("only Linux with gcc loads a library before others here")
    target = folder / "poor.so"
    flags = ["-O1", "-Wall", "-Werror", "-shared", "-fPIC"]
    command = ["gcc", *flags, str(SOURCE), "-o", str(target), "-ldl"]
    subprocess.run(command, check=True)
    return target


def run(code: str, loaded: Path, root: Path, lacks: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process whose files below `root` lie on such a file system."""
    return subprocess.run(
        [sys.executable, "-c", code, str(root)],
        env={
            **os.environ,
            "LD_PRELOAD": str(loaded),
            "POOR_ROOT": str(root),
            "POOR_LACKS": lacks,
        },
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
