"""Attributes come back with their types, and `verify` says which the store has otherwise."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import zarr

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import open_source
from gangsaw.tasks.formats.hdf5.attributes import read_attributes, write_attributes
from gangsaw.tasks.store.dataset.losses import LEFT_OUT
from gangsaw.tasks.store.objects.versions import versions_of

IMAGE = np.arange(4 * 20 * 30, dtype="u2").reshape(4, 20, 30)
VALUES: dict[str, Any] = {
    "single": np.float32(0.1),
    "singles": np.array([0.1, 0.2], "f4"),
    "double": np.array([1.5]),
    "nan": np.float64("nan"),
    "short": np.int16(3),
    "matrix": np.arange(6, dtype="i2").reshape(2, 3),
    "big_endian": np.array(5, ">i4"),
    "half": np.float16(1.5),
    "long_double": np.longdouble(1.5),
    "complex": np.complex64(1 + 2j),
    "true": np.bool_(True),
    "flags": np.array([True, False]),
    "text": "m",
    "texts": np.array(["x", "yé"], object),
    "fixed": np.bytes_(b"abc"),
    "fixed_texts": np.array([b"ab", b"c"]),
    "latin": np.bytes_("µm".encode("latin-1")),
    "compound": np.array((1, 2.5), [("a", "i2"), ("b", "f4")]),
    "enumeration": np.array(1, h5py.enum_dtype({"A": 0, "B": 1}, "i1")),
    "bytes": np.void(b"\1\0\3"),
    "empty": h5py.Empty("f4"),
    "empty_text": h5py.Empty("S1"),
    "none": np.zeros(0, "f4"),
}


def write(path: Path) -> Path:
    with h5py.File(path, "w") as file:
        for owner in (file, file.create_group("below"), file.create_dataset("data", data=IMAGE)):
            for name, value in VALUES.items():
                owner.attrs[name] = value
            ragged = np.array([np.arange(3, dtype="i2"), np.arange(2, dtype="i2")], object)
            owner.attrs.create("ragged", ragged, dtype=h5py.vlen_dtype("i2"))
            owner.attrs["link"] = file["below"].ref if "below" in file else file.ref
    return path


def items(owner: Any) -> dict[str, Any]:
    plain = {n: owner.attrs[n] for n in owner.attrs if n not in ("link", "_NCProperties")}
    held = {name: owner.attrs.get_id(name) for name in plain}
    return {
        name: (held[name].get_type().encode(), held[name].shape, repr(value))
        for name, value in plain.items()
    } | {"link": owner.file[owner.attrs["link"]].name}


def test_attributes_of_hdf5_come_back_with_their_types(tmp_path: Path) -> None:
    path, store = write(tmp_path / "a.h5"), tmp_path / "b.zarr"
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).ok
    assert gangsaw.decompress(store, tmp_path / "c.h5") == ()
    with h5py.File(path) as wanted, h5py.File(tmp_path / "c.h5") as found:
        for name in ("/", "below", "data"):
            assert items(found[name]) == items(wanted[name])


@pytest.mark.parametrize("version", ["NETCDF3_CLASSIC", "NETCDF4"])
def test_numbers_of_netcdf_keep_their_types(tmp_path: Path, version: Any) -> None:
    path, store = tmp_path / "a.nc", tmp_path / "b.zarr"
    with netCDF4.Dataset(path, "w", format=version) as file:
        for name, n in {"z": 4, "y": 20, "x": 30, "unused": 7}.items():
            file.createDimension(name, n)
        variable = file.createVariable("data", "i2", ("z", "y", "x"), fill_value=-9)
        variable[:] = IMAGE
        variable.scale_factor = np.float32(0.1)
        variable.valid_range = np.array([0, 9], "i2")
        variable.units, file.history = "K", "h" * 100_000
    gangsaw.compress(path, store)
    told = () if version == "NETCDF4" else ("NetCDF 3 (classic), which becomes NetCDF 4",)
    assert gangsaw.decompress(store, tmp_path / "c.nc") == told
    with netCDF4.Dataset(path) as wanted, netCDF4.Dataset(tmp_path / "c.nc") as found:
        names = wanted["data"].ncattrs()
        for name in names:
            had, has = wanted["data"].getncattr(name), found["data"].getncattr(name)
            assert (type(has), repr(has)) == (type(had), repr(had))
        assert sorted(found["data"].ncattrs()) == sorted(names)
        assert found.history == wanted.history
        assert len(found.dimensions["unused"]) == 7


def test_a_note_that_no_longer_fits_is_passed_over(tmp_path: Path) -> None:
    with h5py.File(write(tmp_path / "a.h5")) as file:
        attrs, lost = read_attributes(file["data"])
    assert not lost
    changed = {**attrs, "short": 0.5, "latin": "new", "compound": 7, "single": "no number"}
    with h5py.File(tmp_path / "c.h5", "w") as file:
        write_attributes(file, changed)
        names = ("short", "latin", "compound", "single")
        found = {name: np.ravel(file.attrs[name])[0] for name in names}
    assert [found["short"], found["latin"], found["compound"]] == [0.5, b"new", 7]
    assert found["single"] == b"no number"


def test_verify_names_attributes(tmp_path: Path) -> None:
    path, store = write(tmp_path / "a.h5"), tmp_path / "b.zarr"
    gangsaw.compress(path, store)
    for name in ("", "below/", "data/"):
        place = store / f"{name}zarr.json"
        metadata = json.loads(place.read_text())
        metadata["attributes"]["short"] = 4
        del metadata["attributes"]["text"]
        place.write_text(json.dumps(metadata))
    assert gangsaw.verify(store, against=path).problems == (
        "attribute short is 4, in the source 3",
        "attribute text: in the source, not in the store",
        "group below: attribute short is 4, in the source 3",
        "group below: attribute text: in the source, not in the store",
        "data: attribute short is 4, in the source 3",
        "data: attribute text: in the source, not in the store",
    )


def test_references_without_a_meaning_elsewhere_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["data"] = IMAGE
        file["data"].attrs["region"] = file["data"].regionref[1:2]
    with pytest.raises(BadParams, match="attribute region of data holds references"):
        gangsaw.compress(path, tmp_path / "b.zarr")
    gangsaw.compress(path, tmp_path / "b.zarr", accept_loss=True)
    assert len(zarr.open_group(tmp_path / "b.zarr").attrs[LEFT_OUT]) == 1


@pytest.mark.full
def test_half_floats_and_complex_numbers_are_hdf5_and_no_netcdf(tmp_path: Path) -> None:
    path, store = tmp_path / "a.h5", tmp_path / "b.zarr"
    with h5py.File(path, "w") as file:
        file["half"], file["complex"] = IMAGE.astype("f2"), IMAGE.astype("c8")
    gangsaw.compress(path, store)
    with pytest.raises(BadParams, match=r"no complex64 samples \(complex\): name the target c.h5"):
        gangsaw.decompress(store, tmp_path / "c.nc")
    assert gangsaw.decompress(store, tmp_path / "c.h5") == ()
    with h5py.File(tmp_path / "c.h5") as file:
        assert file["half"].dtype == "f2"
        assert file["complex"].dtype == "c8"
        assert (file["half"][...] == IMAGE.astype("f2")).all()
        assert (file["complex"][...] == IMAGE).all()


def test_types_of_a_dimension_s_own_variable_come_back(tmp_path: Path) -> None:
    path, store, copy = tmp_path / "a.nc", tmp_path / "b.zarr", tmp_path / "c.nc"
    with netCDF4.Dataset(path, "w") as file:
        for name, n in {"z": 4, "y": 20, "x": 30}.items():
            file.createDimension(name, n)
        file.createVariable("data", "u2", ("z", "y", "x"))[:] = IMAGE
        pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
        kind = file.createEnumType("i1", "kind", {"no": 0, "yes": 1})
        file.createVariable("z", pair, ("z",))[:] = np.array([(1, 0.5)] * 4, pair.dtype)
        file.createVariable("y", kind, ("y",))[:] = np.arange(20) % 2
    gangsaw.compress(path, store)
    assert gangsaw.decompress(store, copy) == ()
    with netCDF4.Dataset(copy) as file:
        assert file["data"].dimensions == ("z", "y", "x")
        assert file["z"].datatype.name == "pair"
        assert file["y"].datatype.enum_dict == {"no": 0, "yes": 1}
        assert file["z"][:].tolist() == [(1, 0.5)] * 4
        assert (file["data"][...] == IMAGE).all()


def test_a_change_in_a_further_file_is_a_change(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["x"] = IMAGE
    IMAGE.tofile(tmp_path / "b.raw")
    layout = h5py.VirtualLayout(IMAGE.shape, "u2")
    layout[:] = h5py.VirtualSource("b.h5", "x", IMAGE.shape)
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        file["link"] = h5py.ExternalLink("b.h5", "x")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.create_virtual_dataset("x", layout)
    with h5py.File(tmp_path / "r.h5", "w") as file:
        place = [(str(tmp_path / "b.raw"), 0, IMAGE.nbytes)]
        file.create_dataset("x", IMAGE.shape, "u2", external=place)
    for name, other in (("a", "b.h5"), ("v", "b.h5"), ("r", "b.raw")):
        source = open_source(str(tmp_path / f"{name}.h5"))
        assert (source.arrays[0].read((slice(0, 4), slice(0, 20), slice(0, 30))) == IMAGE).all()
        assert source.arrays[0].name == ("link" if name == "a" else "x")
        before = source.identity(), versions_of(source)
        os.utime(tmp_path / other, ns=(5, len(before[0]) * 1000))
        assert source.identity() != before[0]
        assert versions_of(source) != before[1]
