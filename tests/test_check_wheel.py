"""The check of wheels: every source file, packs of compiled kernels, and nothing else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import check_wheel
import pytest

from gangsaw.codecs.core.numba.packs import levels, pack_files

PACKS = [f"gangsaw/kernels/{pack_files.file_name(level.name)}" for level in levels.LEVELS]
OTHERS = ("gangsaw/kernels/notes.txt", "gangsaw/x86-64-v3.pack", "gangsaw/kernels/a/b.pack")


@pytest.fixture(autouse=True)
def _tracked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_wheel, "expected", lambda: {"gangsaw/__init__.py"})


def code(folder: Path, *names: str) -> int:
    """The exit code for a wheel of files."""
    with zipfile.ZipFile(folder / "made.whl", "w") as wheel:
        for name in ("gangsaw-1.dist-info/METADATA", *names):
            wheel.writestr(name, "")
    return check_wheel.main(str(folder / "made.whl"))


def test_packs_may_be_in_a_wheel(tmp_path: Path) -> None:
    assert code(tmp_path, "gangsaw/__init__.py", *PACKS) == 0


@pytest.mark.parametrize("name", OTHERS)
def test_other_files_are_told(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code(tmp_path, "gangsaw/__init__.py", name) == 1
    assert capsys.readouterr().err == f"not a tracked file: {name}\n"


def test_missing_files_are_told(tmp_path: Path) -> None:
    assert code(tmp_path, *PACKS) == 1
