"""Distributions that bring plugins, faked in a folder that a fresh process has on its path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def distribution(
    folder: Path, name: str, entry: str, modules: dict[str, str], group: str = "zarr.codecs"
) -> None:
    """Write a distribution with one line of a group of entry points, and its modules."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
    for module, text in modules.items():
        path = folder / module
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def run(code: str, path: Path) -> subprocess.CompletedProcess[str]:
    """Run Python with the folder on its path; warnings are written to stderr."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )
