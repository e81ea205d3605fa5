"""Every extra resolves to the same versions of the packages that decide compiled kernels.

Kernels are compiled for one Numba, llvmlite and NumPy. If an extra moved one of these, its
installation would make every compiled kernel, and every pack, useless.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lowest
import pytest

KERNELS = ("numba", "llvmlite", "numpy")
OTHERS = ("zarr", "numcodecs", "dask", "distributed", "xarray")
EXTRAS = tomllib.loads(lowest.PYPROJECT.read_text())["project"]["optional-dependencies"]
ALONE = sorted(EXTRAS.keys() - {"dev"})  # `test`, `bench` and programs
MOVES_DASK = {"gpu", "gpu12"}  # each dask-cuda takes one month's Dask
SEVERAL = 6  # pip mostly waits for the registry
# of the environment in which a continuous integration runs us with other versions
SETTINGS = ("PIP_CONSTRAINT", "PIP_ONLY_BINARY", "PIP_NO_BINARY")


def pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run this Python's pip."""
    environment = {k: v for k, v in os.environ.items() if k not in SETTINGS}
    environment["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    return subprocess.run(
        [sys.executable, "-m", "pip", *arguments],
        cwd=lowest.PYPROJECT.parent,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def resolve(requirement: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Let pip choose versions, in an empty environment; it installs nothing."""
    dry = ("install", "--dry-run", "--quiet", "--ignore-installed", "--only-binary", ":all:")
    return pip(*dry, "--report", "-", *options, requirement)


def versions(requirement: str) -> dict[str, str]:
    """Return the versions of the packages compared, by name, that pip would install."""
    done = resolve(requirement)
    assert done.returncode == 0, f"{requirement}: {done.stderr}"
    chosen = (item["metadata"] for item in json.loads(done.stdout)["install"])
    found = {package["name"].lower(): package["version"] for package in chosen}
    return {name: found[name] for name in (*KERNELS, *OTHERS) if name in found}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this tree: its metadata are built once, not for each call of pip."""
    if pip("--version").returncode:
        pytest.skip("this Python has no pip")
    reached = resolve("packaging", "--no-deps", "--retries", "0", "--timeout", "15")
    if reached.returncode:
        pytest.skip(f"no package index is reachable: {reached.stderr.strip()[-200:]}")
    folder = tmp_path_factory.mktemp("wheel")
    built = pip("wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), ".")
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.mark.full
def test_no_extra_moves_what_decides_kernels(wheel: Path) -> None:
    requirements = [str(wheel), *(f"{wheel}[{extra}]" for extra in ALONE)]
    with ThreadPoolExecutor(SEVERAL) as pool:
        found = dict(zip(("", *ALONE), pool.map(versions, requirements), strict=True))
    together = found["test"]  # it has all extras of users, and what decides is in each
    assert together.keys() == {*KERNELS, *OTHERS}
    moved = {
        extra: differing
        for extra, chosen in found.items()
        if (differing := {n: v for n, v in chosen.items() if v != together[n]})
    }
    for extra in MOVES_DASK & moved.keys():
        moved[extra] = {n: v for n, v in moved[extra].items() if n not in ("dask", "distributed")}
    assert {extra: names for extra, names in moved.items() if names} == {}, together
    assert all(found[extra].keys() >= set(KERNELS) for extra in found)


@pytest.mark.parametrize(
    ("requirement", "expected"),
    [
        ("numpy>=2.0", "numpy==2.0"),
        ("numba>=0.62,<0.63; python_version < '3.14'", "numba==0.62; python_version < '3.14'"),
        ("pyuvdata[casa,hdf5_compression]>=3.2.7", "pyuvdata==3.2.7"),
        ("netCDF4>=1.7.5", "netcdf4==1.7.5"),
    ],
)
def test_the_lowest_version_of_a_requirement(requirement: str, expected: str) -> None:
    assert lowest.constraint(requirement) == expected


def test_every_requirement_of_users_has_a_lowest_version() -> None:
    names = {line.partition("==")[0] for line in lowest.lowest()}
    assert {"numba", "numpy", "zarr", "pyuvdata", "typer"} <= names
    assert not names & {"pytest", "cupy-cuda13x", "gangsaw"}
    with pytest.raises(ValueError, match="boto3: a minimum is missing"):
        lowest.constraint("boto3")
