"""The core alone: what reads a store, and what is said where an extra is missing."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from helpers.core_only import closure, refused, run_core
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import gangsaw
from gangsaw.codecs.core.plugins.extras import EXTRAS

CORE = {"gangsaw", "google-crc32c", "numba", "numcodecs", "numpy", "zarr"}
CORE |= {"llvmlite", "donfig", "packaging", "pyyaml", "typing-extensions"}  # which these bring
LATER = {"msgspec"}  # of newer versions of zarr
PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def test_the_core_is_small() -> None:
    assert closure("gangsaw") - LATER == CORE
    assert {"dask", "typer", "xarray", "pandas", "matplotlib", "fsspec"} <= refused()


def test_extras_bring_their_modules() -> None:
    of = packages_distributions()
    found = {m: {canonicalize_name(name) for name in of.get(m, ())} for m in EXTRAS}
    assert [m for m in EXTRAS if not found[m] & closure("gangsaw", EXTRAS[m])] == []


def test_extras_have_normalized_names() -> None:
    """Before version 23.3, pip finds no extra that is requested under another spelling."""
    table = tomllib.loads(PYPROJECT.read_text())
    project = table["project"]
    lines = [*table["build-system"]["requires"], *project["dependencies"]]
    lines += [line for of in project["optional-dependencies"].values() for line in of]
    extras = [extra for line in lines for extra in Requirement(line).extras]
    assert {"hdf5-compression", "array", "dask"} <= {*extras}
    extras += [*project["optional-dependencies"], *EXTRAS.values()]
    assert [extra for extra in extras if extra != canonicalize_name(extra)] == []


def test_all_is_every_extra() -> None:
    assert all(closure("gangsaw", extra) <= closure("gangsaw", "all") for extra in EXTRAS.values())


def run(code: str) -> list[str]:
    """Lines that the code prints where only the core is installed."""
    done = run_core(code)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_command_says_what_to_install() -> None:
    done = run_core(
        "import sys; from gangsaw.cli import main; sys.exit(main(['compress', 'a', 'b']))"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'gangsaw: typer is missing: pip install "gangsaw[cli]"\n'


@pytest.mark.full
def test_what_xarray_is_told_needs_xarray() -> None:
    code = "import gangsaw\ntry: gangsaw.encoding(1)\nexcept gangsaw.BadParams as e: print(e)"
    assert run(code) == ['xarray is missing: pip install "gangsaw[dask]"']


@pytest.fixture
def store(tmp_path: Path) -> Path:
    values = np.arange(4 * 30 * 30, dtype="u2").reshape(4, 30, 30) % 1000
    xr.Dataset({"a": (("z", "y", "x"), values)}).to_netcdf(tmp_path / "a.nc")
    gangsaw.compress(tmp_path / "a.nc", tmp_path / "a.zarr")
    return tmp_path / "a.zarr"


def test_stores_are_read_and_written(store: Path) -> None:
    code = f"""if 1:
        import gangsaw, numpy as np, zarr
        store = {str(store)!r}
        print(zarr.open_group(store)["a"][:].sum())
        print(gangsaw.verify(store).problems, gangsaw.info(store).arrays[0].codec)
        np.arange(1000, dtype="u2").tofile(store + ".raw")
        gangsaw.compress(store + ".raw", store + ".b", shape=(10, 10, 10), dtype="u2")
        gangsaw.decompress(store + ".b", store + ".back.raw")
        print(open(store + ".raw", "rb").read() == open(store + ".back.raw", "rb").read())
    """
    total = np.arange(3600).reshape(4, 30, 30) % 1000
    assert run(code) == [str(total.sum()), "() gangsaw.ccsds123", "True"]


def test_what_is_missing_is_named(store: Path) -> None:
    calls = {
        "gangsaw.open(store)": "dask",
        "gangsaw.plot(store)": "plot",
        "gangsaw.compress(store[:-5] + '.nc', store + '.b')": "netcdf",
        "gangsaw.decompress(store, store + '.nc')": "netcdf",
        "gangsaw.compress('s3://bucket/a', store + '.b')": "s3",
        "gangsaw.tasks.api.functions.workers(workers=1).__enter__()": "dask",
        "gangsaw.tasks.api.functions.status('tcp://127.0.0.1:1')": "dask",
    }
    code = f"""if 1:
        import json, gangsaw, gangsaw.tasks.api.functions
        store, lines = {str(store)!r}, []
        for call in {list(calls)!r}:
            try:
                eval(call)
            except gangsaw.BadParams as error:
                lines.append(str(error))
        print(json.dumps(lines))
    """
    lines = json.loads(run(code)[0])
    named = [f' is missing: pip install "gangsaw[{extra}]"' for extra in calls.values()]
    assert len(lines) == len(calls)
    assert [name for line, name in zip(lines, named, strict=True) if name not in line] == []
