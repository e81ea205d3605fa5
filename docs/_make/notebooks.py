"""Execution of the notebooks, whose outputs are stored in them: pages show these.

`python docs/_make/notebooks.py [NAME ...]` executes `notebooks/NAME.ipynb`, or all of them, and
writes their outputs. Each runs in an empty folder on the small data that it makes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def execute(path: Path) -> None:
    """Execute a notebook and write its outputs into it, without times and without paths."""
    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory(prefix="gangsaw-") as folder:
        os.environ["TMPDIR"] = folder  # where notebooks make their own folders
        NotebookClient(notebook, timeout=None, resources={"metadata": {"path": folder}}).execute()
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
            for output in cell.get("outputs", ()):
                _without_folder(output, folder)
    notebook.metadata.language_info = {"name": "python"}
    nbformat.write(notebook, path)


def _without_folder(output: nbformat.NotebookNode, folder: str) -> None:
    """Remove the name of the temporary folder from an output."""
    texts = output.get("data", output)
    for key, value in texts.items():
        if isinstance(value, str) and folder in value:
            texts[key] = value.replace(folder, "/tmp")


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")):
        print(name)
        execute(NOTEBOOKS / f"{name}.ipynb")
