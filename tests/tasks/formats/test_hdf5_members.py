"""Members of HDF5 files that are no variables: types and links do not refuse what is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.hdf5.open import KnownFile, NetcdfFile
from gangsaw.tasks.formats.hdf5.source import open_netcdf

TYPES = {
    "numbers": np.dtype("i4"),
    "floats": np.dtype(">f8"),
    "opaque": np.dtype("V5"),
    "array": np.dtype(("i4", (3,))),
    "enumeration": h5py.enum_dtype({"a": 1}),
    "compound": np.dtype([("a", "i4"), ("b", "f4")]),
    "text": h5py.string_dtype(),
    "fixed text": np.dtype("S7"),
}
LINKS: dict[str, Callable[[], object]] = {
    "soft": lambda: h5py.SoftLink("/nowhere"),
    "external": lambda: h5py.ExternalLink("absent.h5", "/x"),
}


def _write(path: Path, group: str, member: object) -> Path:
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(10)
        file["below/y"] = np.ones((3, 4))
        file[f"{group}/member"] = member
    return path


@pytest.mark.parametrize("group", ["/", "below"])
@pytest.mark.parametrize("kind", TYPES)
def test_a_committed_type_leaves_all_variables(kind: str, group: str, tmp_path: Path) -> None:
    path, store = _write(tmp_path / "a.h5", group, TYPES[kind]), tmp_path / "a.zarr"
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    with xr.open_datatree(store, engine="zarr", chunks=None) as tree:
        assert (tree["x"].values == np.arange(10)).all()
        assert (tree["below/y"].values == 1).all()


def test_variables_of_a_committed_type_of_numbers(tmp_path: Path) -> None:
    path, store = _write(tmp_path / "a.h5", "/", np.dtype("i4")), tmp_path / "a.zarr"
    with h5py.File(path, "a") as file:
        file.create_dataset("z", data=[1, 2, 3], dtype=file["member"])
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    assert xr.open_zarr(store, chunks=None)["z"].values.tolist() == [1, 2, 3]


@pytest.mark.parametrize("group", ["", "below/"])
@pytest.mark.parametrize("kind", LINKS)
def test_a_link_that_leads_nowhere_is_refused_by_name(
    kind: str, group: str, tmp_path: Path
) -> None:
    path, store = _write(tmp_path / "a.h5", group or "/", LINKS[kind]()), tmp_path / "a.zarr"
    with pytest.raises(BadParams, match=f"{group}member is a link that leads nowhere"):
        gangsaw.compress(path, store)
    gangsaw.compress(path, store, accept_loss=True)
    assert (xr.open_zarr(store, chunks=None)["x"].values == np.arange(10)).all()


@pytest.mark.parametrize("group", ["", "below/"])
@pytest.mark.parametrize("dtype", ["i2", "S3", "V4"])
def test_some_axes_have_a_scale(group: str, dtype: str, tmp_path: Path) -> None:
    path, store, copy = tmp_path / "a.h5", tmp_path / "a.zarr", tmp_path / "c.h5"
    with h5py.File(path, "w") as file:
        file["image"] = np.arange(60, dtype="i2").reshape(3, 4, 5)
        file[f"{group}wavelength"] = np.arange(4.0)
        file[f"{group}wavelength"].make_scale("wavelength")
        file[f"{group}partly"] = np.zeros((3, 4, 5), dtype)
        file[f"{group}partly"].dims[1].attach_scale(file[f"{group}wavelength"])
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    with xr.open_datatree(store, engine="zarr", chunks=None) as tree:
        assert tree[f"{group}partly"].dims[1] == "wavelength"
    assert gangsaw.decompress(store, copy) == ()
    with h5py.File(copy) as found:
        axes = found[f"{group}partly"].dims
        assert [[scale.name for scale in axis.values()] for axis in axes] == [
            [],
            [f"/{group}wavelength"],
            [],
        ]


LOOPS: dict[str, Callable[[h5py.File], object]] = {
    "hard": lambda file: file["/"],
    "hard, own": lambda file: file["below"],
    "soft": lambda _: h5py.SoftLink("/"),
    "soft, own": lambda _: h5py.SoftLink("/below"),
}


@pytest.mark.parametrize("kind", LOOPS)
def test_a_loop_of_links_is_walked_once(kind: str, tmp_path: Path) -> None:
    path, store = tmp_path / "a.h5", tmp_path / "a.zarr"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(10)
        file["below/y"] = np.ones((3, 4))
        file["below/texts"] = ["a", "b"]
        file["below/loop"] = LOOPS[kind](file)
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    with xr.open_datatree(store, engine="zarr", chunks=None) as tree:
        assert sorted(tree.groups) == ["/", "/below"]
        assert sorted(tree["below"].data_vars) == ["texts", "y"]


def test_links_from_group_to_group_and_back(tmp_path: Path) -> None:
    path, store = tmp_path / "a.h5", tmp_path / "a.zarr"
    with h5py.File(path, "w") as file:
        for one, other in (("a", "b"), ("b", "a")):
            file[f"{one}/x"] = np.ones((3, 4))
            file[f"{one}/other"] = h5py.SoftLink(f"/{other}")
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok


def test_a_link_to_a_group_of_another_file_is_named(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["inner/y"] = np.ones((3, 4))
    path = _write(tmp_path / "a.h5", "/", h5py.ExternalLink("other.h5", "/inner"))
    with pytest.raises(BadParams, match=r"member is a link to the group /inner of other\.h5"):
        gangsaw.compress(path, tmp_path / "a.zarr")
    gangsaw.compress(path, tmp_path / "a.zarr", accept_loss=True)
    assert gangsaw.verify(tmp_path / "a.zarr", against=path, accept_loss=True).ok


def test_a_link_says_where_it_leads(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.h5", "/", h5py.ExternalLink("absent.h5", "/x"))
    with pytest.raises(BadParams, match=r"/x of absent\.h5, which is not there"):
        gangsaw.compress(path, tmp_path / "a.zarr")


def test_a_file_is_looked_through_as_often_whatever_its_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To open it by the rules of NetCDF means to look at all of its groups."""
    seen: list[int] = []
    begin = NetcdfFile.__init__

    def noted(self: NetcdfFile, known: KnownFile, **options: object) -> None:
        seen[-1] += 1
        begin(self, known, **options)

    monkeypatch.setattr(NetcdfFile, "__init__", noted)
    for n in (2, 12):
        with h5py.File(tmp_path / f"{n}.h5", "w") as file:
            for i in range(n):
                file[f"g{i}/data"] = np.arange(3, dtype="f4") + i
        seen.append(0)
        assert len(open_netcdf(str(tmp_path / f"{n}.h5")).arrays) == n
    assert seen[0] == seen[1] <= 3
