"""Every notebook runs from top to bottom on small data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from helpers.hang import HANG

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))

# Run in a separate interpreter: Jupyter's event loops warn, and warnings are errors here.
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=None, resources={"metadata": {"path": sys.argv[2]}}).execute()
"""


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_runs(path: Path, tmp_path: Path) -> None:
    """The notebook raises nothing; its asserts hold."""
    command = [sys.executable, "-c", EXECUTE, str(path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_there_is_one() -> None:
    """The folder was found."""
    assert NOTEBOOKS
