"""Pictures of the documentation: each is used, small, and has the numbers behind it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from helpers.hang import HANG

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PICTURES = sorted(
    path for path in (DOCS / "_static" / "pictures").iterdir() if path.suffix in (".png", ".svg")
)
RECORDINGS = sorted((DOCS / "_static" / "recordings").glob("*.svg"))
PAGES = [ROOT / "README.md", *DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
MOST_BYTES = 250_000
MOST_BYTES_OF_README = 200_000  # of demo.png, which each visitor loads
LINK = re.compile(r"_static/((?:pictures|recordings)/[\w.-]+)")


def linked() -> dict[str, list[str]]:
    """Return the pages that link each file of pictures and recordings."""
    found: dict[str, list[str]] = {}
    for page in PAGES:
        for name in LINK.findall(page.read_text()):
            found.setdefault(name, []).append(page.name)
    return found


def test_pictures_have_numbers_and_are_used() -> None:
    links = linked()
    assert len(PICTURES) > 9
    for path in PICTURES:
        assert json.loads(path.with_suffix(".json").read_text()), path.name
        assert links.get(f"pictures/{path.name}"), f"no page shows {path.name}"
    for path in RECORDINGS:
        assert links.get(f"recordings/{path.name}"), f"no page shows {path.name}"


def test_pages_link_files_that_are_there() -> None:
    missing = [name for name in linked() if not (DOCS / "_static" / name).is_file()]
    assert not missing


def test_pictures_are_small() -> None:
    for path in (*PICTURES, *RECORDINGS):
        most = MOST_BYTES_OF_README if path.name == "demo.png" else MOST_BYTES
        assert 1000 < path.stat().st_size <= most, path.name


def test_recordings_have_no_files_of_other_hosts() -> None:
    assert len(RECORDINGS) > 5
    for path in RECORDINGS:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text.replace("https://www.textualize.io", ""), path.name


@pytest.mark.full
@pytest.mark.parametrize("script", ["pictures.py", "recordings.py"])
def test_they_are_those_of_the_code(script: str) -> None:
    for name in ("matplotlib", "olga", "rich", "pyarrow"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    done = subprocess.run(
        [sys.executable, DOCS / "_make" / script, "--check"],
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
