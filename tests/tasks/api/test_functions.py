"""The package's public names: lazy, complete, and the same as the command line from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.envi_files import METADATA, cube, write_envi

import gangsaw


def test_import_loads_nothing_heavy() -> None:
    heavy = ("numba", "zarr", "dask", "distributed", "xarray", "numpy", "typer", "rich")
    code = f"import sys, gangsaw; sys.exit(bool(set({heavy!r}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_public_name_is_there() -> None:
    for name in gangsaw.__all__:
        assert getattr(gangsaw, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = gangsaw.nope  # type: ignore[attr-defined]


def test_completion_offers_the_documented_names_and_no_other() -> None:
    public = {*gangsaw.__all__, "cluster", "codecs", "tasks"}
    public |= {"align", "genomes", "reads", "search", "tcr", "xarray"}
    assert set(dir(gangsaw)) == public
    assert {"Bwt", "Ccsds123", "Ccsds123V2", "core"} < set(dir(gangsaw.codecs))
    assert not [name for name in dir(gangsaw.codecs) if not (name[0].isupper() or name == "core")]


def test_the_whole_way_from_python(tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube(), interleave="bil", metadata=METADATA)
    states = []
    summary = gangsaw.compress(
        scene, tmp_path / "a.zarr", chunks={"y": 4}, bit_depth="auto", on_progress=states.append
    )
    assert (summary.chunks, summary.samples) == (2, cube().size)
    assert [state.done for state in states] == [0, 1, 2]
    assert gangsaw.verify(tmp_path / "a.zarr", against=scene).ok
    assert gangsaw.info(tmp_path / "a.zarr").arrays[0].stored_bytes == summary.stored_bytes
    with gangsaw.open(tmp_path / "a.zarr") as opened:
        assert opened["data"].dims == ("y", "band", "x")
        assert np.array_equal(opened["data"].transpose("band", "y", "x").values, cube())
        opened.to_netcdf(tmp_path / "a.nc", engine="h5netcdf", encoding={"data": {}})
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.hdr")
    assert (tmp_path / "b.img").read_bytes() == (tmp_path / "scene.img").read_bytes()
    with pytest.raises(gangsaw.BadParams, match="exists"):
        gangsaw.compress(scene, tmp_path / "a.zarr")


def test_a_store_is_drawn(tmp_path: Path) -> None:
    scene = write_envi(tmp_path / "scene.hdr", cube(), metadata=METADATA)
    gangsaw.compress(scene, tmp_path / "a.zarr")
    titles = [axes.get_title(loc="left") for axes in gangsaw.plot(tmp_path / "a.zarr").axes]
    assert any("bits/sample of each block" in title for title in titles)


def test_what_is_said_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "a.raw").write_bytes(cube().tobytes())
    said = {"format": "raw", "shape": cube().shape, "dtype": cube().dtype.name}
    gangsaw.compress(tmp_path / "a.raw", tmp_path / "a.zarr", **said)
    assert gangsaw.verify(tmp_path / "a.zarr", against=tmp_path / "a.raw", **said).ok
    gangsaw.compress(tmp_path / "a.zarr", tmp_path / "b.zarr", variables=["data"], group=None)
    for wrong in ({"variable": "data"}, {"variables": "data"}, {"variables": 5}):
        with pytest.raises(gangsaw.BadParams, match="variable"):
            gangsaw.compress(tmp_path / "a.zarr", tmp_path / "c.zarr", **wrong)
    with pytest.raises(gangsaw.BadParams, match="--colour"):
        gangsaw.verify(tmp_path / "a.zarr", against=tmp_path / "b.zarr", colour="red")


def test_a_format_of_what_is_open_comes_too_late(tmp_path: Path) -> None:
    from gangsaw.tasks.formats.contract.opening import open_source

    opened = open_source(str(write_envi(tmp_path / "scene.hdr", cube())))
    with pytest.raises(gangsaw.BadParams, match="is open: --format comes too late"):
        gangsaw.compress(opened, tmp_path / "a.zarr", format="raw")


@pytest.mark.parametrize("wrong", [None, [], [b"a.raw"], 5])
def test_what_is_no_path_is_refused(tmp_path: Path, wrong: object) -> None:
    write_envi(tmp_path / "s.hdr", cube())
    gangsaw.compress(tmp_path / "s.hdr", tmp_path / "s.zarr")
    with pytest.raises(TypeError, match="a source is a path"):
        gangsaw.compress(wrong, tmp_path / "t.zarr")  # type: ignore[arg-type]
    with pytest.raises(gangsaw.BadParams, match="name a path"):
        gangsaw.decompress(tmp_path / "s.zarr", wrong)  # type: ignore[arg-type]
