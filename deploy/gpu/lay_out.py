"""Lays the package out in a folder, from a clone: with neither network nor build.

python deploy/gpu/lay_out.py FOLDER   # then PYTHONPATH=FOLDER runs it

Its modules are links into the clone; beside them is what tells other packages of its codecs. The
exit status is 2, with a line that names them, where distributions are missing that measuring on a
device needs: their wheels, some megabytes, can be brought to a machine without network.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import Distribution, requires
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# what the bytes, the figures and the tests on a device import, and which distribution brings it
NEEDED = {
    "numpy": "numpy",
    "numba": "numba",
    "cupy": "cupy-cuda13x or cupy-cuda12x",
    "zarr": "zarr",
    "numcodecs": "numcodecs",
    "yaml": "pyyaml",
    "google_crc32c": "google-crc32c",
    "dask": "dask",
    "distributed": "distributed",
    "pytest": "pytest",
    "hypothesis": "hypothesis",
}


def missing() -> list[str]:
    """Return the distributions that are not here."""
    absent = [wheel for module, wheel in NEEDED.items() if find_spec(module) is None]
    return absent + [name for name in asked_by("zarr") if not _is_here(name)]


def asked_by(name: str) -> list[str]:
    """Return what a distribution, if it is here, asks for: zarr's list grows with its versions."""
    asked = requires(name) or [] if _is_here(name) else []
    return [re.split(r"[^\w.-]", need)[0] for need in asked if "extra ==" not in need]


def _is_here(name: str) -> bool:
    return any(True for _ in Distribution.discover(name=name))


def lay_out(folder: Path) -> None:
    """Fill an empty folder with the package, and with the metadata of its distribution."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages: Mapping[str, str] = project["tool"]["scikit-build"]["wheel"]["packages"]
    for name, source in sorted(packages.items()):  # the parent comes first
        place = folder / name
        if "/" in name:
            place.symlink_to(ROOT / source)
        else:
            place.mkdir(parents=True)
            for path in (ROOT / source).iterdir():
                (place / path.name).symlink_to(path)
    _metadata(folder, project["project"])


def _metadata(folder: Path, project: Mapping[str, object]) -> None:
    name, version = project["name"], project["version"]
    place = folder / f"{name}-{version}.dist-info"
    place.mkdir()
    (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    groups = project["entry-points"]
    assert isinstance(groups, dict)
    lines = [
        line
        for group, entries in groups.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()), "")
    ]
    (place / "entry_points.txt").write_text("\n".join(lines))


def main(folder: Path) -> int:
    """Lay the package out; return the exit status."""
    lay_out(folder)
    if wheels := missing():
        sys.stderr.write(f"these are missing in {sys.executable}: {', '.join(wheels)}\n")
        return 2
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    sys.exit(main(parser.parse_args().folder))
