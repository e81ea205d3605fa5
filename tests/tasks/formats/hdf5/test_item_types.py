"""Data sets of HDF5 and NetCDF of every kind: stored, carried or named, and given back."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
import zarr

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.opening import SourceOptions, open_source
from gangsaw.tasks.store.dataset.losses import LEFT_OUT

RECORD = np.dtype([("id", "<i4"), ("x", ">f8"), ("name", "S4"), ("pair", "<f4", (2,))])
NESTED = np.dtype(
    [("n", "<i2"), ("inner", RECORD), ("text", h5py.string_dtype()), ("v", h5py.vlen_dtype("i4"))]
)


def table(group: h5py.Group, name: str) -> None:
    group[name] = np.array([(i, i / 3, b"a\xff", (i, -i)) for i in range(4)], RECORD)


def nested(group: h5py.Group, name: str) -> None:
    made = group.create_dataset(name, (2,), NESTED)
    row = np.zeros((), RECORD)
    made[0] = (1, row, "é", np.arange(3, dtype="i4"))
    made[1] = (2, row, "", np.arange(0, dtype="i4"))


def vlen(group: h5py.Group, name: str) -> None:
    made = group.create_dataset(name, (2, 2), h5py.vlen_dtype("f4"))
    made[0, 1] = np.array([1.5, np.nan], "f4")
    made[1, 0] = np.arange(1000, dtype="f4")


def enumeration(group: h5py.Group, name: str) -> None:
    kind = h5py.enum_dtype({"clear": 0, "CLOUD": 7}, ">i2")
    group.create_dataset(name, data=np.array([[0, 7], [7, 7]]), dtype=kind)


def opaque(group: h5py.Group, name: str) -> None:
    group[name] = np.array([b"abc", b"\0\1\2"], "V3")


def tagged(group: h5py.Group, name: str) -> None:
    times = np.array(["2020-01-01T00:00:01", "NaT"], "M8[us]")
    group[name] = times.astype(h5py.opaque_dtype(times.dtype))


def bits(group: h5py.Group, name: str) -> None:
    space = h5py.h5s.create_simple((3,))
    made = h5py.h5d.create(group.id, name.encode(), h5py.h5t.STD_B16LE, space)
    made.write(space, space, np.array([1, 0x8000, 5], "u2"), mtype=h5py.h5t.STD_B16LE)


def arrays(group: h5py.Group, name: str) -> None:
    kind = h5py.h5t.array_create(h5py.h5t.STD_I16BE, (2, 2))
    space = h5py.h5s.create_simple((3,))
    made = h5py.h5d.create(group.id, name.encode(), kind, space)
    h5py.Dataset(made)[...] = np.arange(12).reshape(3, 2, 2)


def long_double(group: h5py.Group, name: str) -> None:
    group[name] = np.array([1, np.pi], np.longdouble)


def fixed_ascii(group: h5py.Group, name: str) -> None:
    group[name] = np.array([b"ab", b"\xff "], "S2")


def fixed_utf8(group: h5py.Group, name: str) -> None:
    made = group.create_dataset(name, (2,), h5py.string_dtype("utf-8", 4))
    made[0] = "é"


def any_utf8(group: h5py.Group, name: str) -> None:
    group.create_dataset(name, data=["a", "é", ""], dtype=h5py.string_dtype())


def any_bytes(group: h5py.Group, name: str) -> None:
    group.create_dataset(name, data=[b"a", b"\xff"], dtype=h5py.string_dtype("ascii"))


def any_ascii(group: h5py.Group, name: str) -> None:
    group.create_dataset(name, data=[b"a", b""], dtype=h5py.string_dtype("ascii"))


def utf8_as_ascii(group: h5py.Group, name: str) -> None:
    group.create_dataset(name, data=["é".encode(), b"b"], dtype=h5py.string_dtype("ascii"))


def one_ascii(group: h5py.Group, name: str) -> None:
    group[name] = b"hello"


def one_text(group: h5py.Group, name: str) -> None:
    group[name] = "hello"


KINDS: list[Callable[[h5py.Group, str], None]] = [
    table,
    nested,
    vlen,
    enumeration,
    opaque,
    tagged,
    bits,
    arrays,
    long_double,
    fixed_ascii,
    fixed_utf8,
    any_utf8,
    any_bytes,
    any_ascii,
    utf8_as_ascii,
    one_ascii,
    one_text,
]


def raw(data: h5py.Dataset) -> object:
    """Return the items as lists, those of one size as the bytes that are in the file."""
    kind = data.id.get_type()
    if data.dtype.hasobject:
        return [np.asarray(data[()], object).ravel().tolist()[i] for i in range(data.size)]
    out = np.zeros(data.size * kind.get_size(), np.uint8)
    data.id.read(h5py.h5s.ALL, h5py.h5s.ALL, out, mtype=kind)
    return out.tobytes()


def plain(item: object) -> object:
    if isinstance(item, np.ndarray):
        return [plain(part) for part in item]
    return [plain(part) for part in item] if isinstance(item, tuple | list | np.void) else item


@pytest.mark.parametrize("place", ["kind", "below/deep/kind"])
@pytest.mark.parametrize("write", KINDS)
def test_a_kind_comes_back(
    tmp_path: Path, write: Callable[[h5py.Group, str], None], place: str
) -> None:
    path, store, copy = tmp_path / "a.h5", tmp_path / "b.zarr", tmp_path / "c.h5"
    with h5py.File(path, "w") as file:
        file["image"] = np.arange(60, dtype="i2").reshape(3, 4, 5)
        group = file.require_group(place.rpartition("/")[0] or "/")
        write(group, "kind")
        group["kind"].attrs["long_name"] = "what it is"
    assert gangsaw.compress(path, store).notes == ()
    assert gangsaw.verify(store, against=path).problems == ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with xr.open_datatree(store, engine="zarr", chunks=None) as tree:
            tree.load()
            assert f"/{place}" in [f"{n.path.rstrip('/')}/{v}" for n in tree.subtree for v in n]
    assert gangsaw.decompress(store, copy) == ()
    with h5py.File(path) as wanted, h5py.File(copy) as found:
        assert found[place].shape == wanted[place].shape
        assert found[place].id.get_type() == wanted[place].id.get_type()
        assert found[place].attrs["long_name"] == "what it is"
        assert repr(plain(raw(found[place]))) == repr(plain(raw(wanted[place])))


def test_large_tables_go_chunk_by_chunk(tmp_path: Path) -> None:
    rows = np.zeros(1_500_000, RECORD)
    rows["id"] = np.arange(len(rows))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["image"] = np.zeros((4, 4), "i2")
        file.create_dataset("table", data=rows, chunks=(5000,))
    summary = gangsaw.compress(tmp_path / "a.h5", tmp_path / "b.zarr")
    assert "table" in summary.arrays
    gangsaw.decompress(tmp_path / "b.zarr", tmp_path / "c.h5")
    with h5py.File(tmp_path / "c.h5") as found:
        np.testing.assert_array_equal(found["table"][...], rows)


def user_types(path: Path) -> Path:
    """Write a file as NetCDF's library does, with a variable of each type of its users."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("x", 3)
        file.createDimension("length", 4)
        image = file.createVariable("image", "i2", ("x", "length"))
        image[:] = np.arange(12).reshape(3, 4)
        chars = file.createVariable("station", "S1", ("x", "length"))
        chars[:] = netCDF4.stringtochar(np.array(["ab", "cdef", ""], "S4"))
        clouds = file.createEnumType("u1", "clouds_t", {"Clear": 0, "Cumulus": 7})
        file.createVariable("cloud", clouds, ("x",), fill_value=7)[:] = [0, 7, 0]
        lists = file.createVLType("i4", "lists_t")
        ragged = file.createVariable("ragged", lists, ("x",))
        for i in range(3):
            ragged[i] = np.arange(i + 1, dtype="i4")
        record = np.dtype([("id", "i4"), ("z", "f8")])
        records = file.createCompoundType(record, "record_t")
        file.createVariable("record", records, ("x",))[:] = np.ones(3, record)
        words = file.createVariable("word", str, ("x",))
        words[:] = np.array(["a", "é", ""], object)
    return path


def test_types_of_netcdf_come_back_with_their_names(tmp_path: Path) -> None:
    path, store, copy = user_types(tmp_path / "a.nc"), tmp_path / "b.zarr", tmp_path / "c.nc"
    gangsaw.compress(path, store)
    assert gangsaw.verify(store, against=path).problems == ()
    assert xr.open_zarr(store).station.values.tolist() == ["ab", "cdef", ""]
    assert gangsaw.decompress(store, copy) == ()
    with netCDF4.Dataset(path) as wanted, netCDF4.Dataset(copy) as found:
        assert found.enumtypes["clouds_t"].enum_dict == {"Clear": 0, "Cumulus": 7}
        assert set(found.cmptypes) == {"record_t"}
        assert set(found.vltypes) == {"lists_t"}
        assert set(found.variables) == set(wanted.variables)
        for name, variable in wanted.variables.items():
            assert found[name].dimensions == variable.dimensions
            assert found[name].dtype == variable.dtype
            assert repr(found[name][:]) == repr(variable[:])
        assert found["cloud"].datatype.name == "clouds_t"
        assert found["cloud"]._FillValue == 7


def test_kinds_of_hdf5_reach_zarr(tmp_path: Path) -> None:
    gangsaw.compress(user_types(tmp_path / "a.nc"), tmp_path / "b.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lost = gangsaw.decompress(tmp_path / "b.zarr", tmp_path / "c.zarr")
        found = zarr.open_group(tmp_path / "c.zarr")
        assert found["record"].dtype.names == ("id", "z")
        assert found["station"][...].tolist() == [b"ab", b"cdef", b""]
    told = ["the names of values of cloud", "the type of ragged"]
    assert [line.partition(",")[0] for line in lost] == told


def test_references_are_named(tmp_path: Path) -> None:
    path, store = tmp_path / "a.h5", tmp_path / "b.zarr"
    with h5py.File(path, "w") as file:
        file["image"] = np.zeros((4, 4), "i2")
        file.create_dataset("below/link", (2,), h5py.ref_dtype)
        file["empty"] = h5py.Empty("f4")
    with pytest.raises(BadParams, match=r"empty has no samples .* below/link holds .*reference"):
        gangsaw.compress(path, store)
    summary = gangsaw.compress(path, store, accept_loss=True)
    assert len(summary.notes) == len(zarr.open_group(store).attrs[LEFT_OUT]) == 2
    assert [line.split()[0] for line in gangsaw.verify(store, against=path).problems] == [
        "empty",
        "below/link",
    ]
    assert gangsaw.verify(store, against=path, accept_loss=True).ok
    source = open_source(str(path), SourceOptions(variables=("image",)))
    assert [array.name for array in source.arrays] == ["image"]


def test_items_of_any_length_have_a_bound(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["image"] = np.zeros((4, 4), "i2")
        made = file.create_dataset("lists", (5,), h5py.vlen_dtype("f8"))
        for i in range(5):
            made[i] = np.zeros(1 << 19)
    with pytest.raises(BadParams, match="lists holds 5 items of any length"):
        open_source(str(path))
    source = open_source(str(path), SourceOptions(accept_loss=True))
    assert [array.name for array in source.arrays] == ["image"]


@pytest.mark.parametrize("name", ["zarr.json", "group/zarr.json"])
def test_a_variable_where_a_store_has_its_metadata_is_refused(tmp_path: Path, name: str) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file[name] = file["cube"] = np.arange(24, dtype="u2").reshape(2, 3, 4)
    with pytest.raises(BadParams, match=f"variable {name}.*--variable"):
        gangsaw.compress(tmp_path / "a.h5", tmp_path / "a.zarr")
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]
    gangsaw.compress(tmp_path / "a.h5", tmp_path / "a.zarr", variables=["cube"])


@pytest.mark.parametrize("place", ["names", "below/names"])
def test_bytes_that_are_text_are_stored_as_text(tmp_path: Path, place: str) -> None:
    path, store = tmp_path / "a.h5", tmp_path / "b.zarr"
    with h5py.File(path, "w") as file:
        file["image"] = np.arange(60, dtype="i2").reshape(3, 4, 5)
        file.create_dataset(place, data=[b"abc", "é".encode()], dtype=h5py.string_dtype("ascii"))
    gangsaw.compress(path, store)
    with xr.open_datatree(store, engine="zarr", chunks=None) as tree:
        assert tree[place].values.tolist() == ["abc", "é"]
