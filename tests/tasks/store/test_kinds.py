"""Variables of every kind that Zarr has: stored, carried or named, and given back as they were."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import netCDF4
import numcodecs
import numpy as np
import pytest
import xarray as xr
import zarr

import gangsaw
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.store.dataset.carried import DTYPE
from gangsaw.tasks.store.dataset.kinds import describe_kind, dtype_of, pack_item, unpack_item
from gangsaw.tasks.store.dataset.losses import LEFT_OUT
from tests.helpers.command_line import CommandLine

RECORD = np.dtype([("id", "i4"), ("x", "f8"), ("name", "S4")])
KINDS: dict[str, NumpyArray] = {
    "table": np.array([(i, i / 7, f"n{i}") for i in range(5)], RECORD),
    "one": np.array((7, 0.5, b"\xff"), RECORD),
    "day": np.array(["2020-01-01", "NaT", "1961-04-12"], "M8[D]"),
    "tick": np.array([1, -2, 3], "m8[10ms]"),
    "ascii": np.array([b"ab", b"", b"abc"], "S3"),
    "bytes": np.array([b"\xff\xfe", b"a ", b""], "S3"),
    "utf8": np.array(["é".encode(), b"b"], "S3"),
    "unicode": np.array(["é", "bcd", ""], "U3"),
    "text": np.array(["any", "", "länge"], np.dtypes.StringDType()),
    "raw": np.array([b"abc", b"\0\0\1"], "V3"),
    "flag": np.array([True, False]),
    "half": np.array([0.5, np.nan], "f2"),
    "complex": np.array([1 + 2j, -3j], "c8"),
    "scalar": np.array(2.5),
}


def source(path: Path, names: dict[str, NumpyArray], zarr_format: int = 3) -> Path:
    """Write arrays along axes of their own, with an image beside them."""
    group = zarr.create_group(path, zarr_format=2 if zarr_format == 2 else 3)
    for name, values in {"image": np.arange(60, dtype="i2").reshape(3, 4, 5), **names}.items():
        dims = [f"{name}_{i}" for i in range(values.ndim)]
        named = {"attributes": {"_ARRAY_DIMENSIONS": dims}, "dimension_names": None}
        if zarr_format == 3:
            named = {"attributes": None, "dimension_names": dims}  # type: ignore[dict-item]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of types that are not specified yet
            array = group.create_array(name, shape=values.shape, dtype=values.dtype, **named)
            array[...] = values
    return path


def opens_without_a_warning(path: Path) -> xr.Dataset:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return xr.open_zarr(path).load()


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", KINDS)
def test_a_kind_comes_back(tmp_path: Path, name: str, zarr_format: int) -> None:
    wanted = KINDS[name]
    if zarr_format == 2 and wanted.dtype.kind == "V":
        pytest.skip("zarr cannot create it")
    path = source(tmp_path / "a.zarr", {name: wanted}, zarr_format)
    store, copy = tmp_path / "b.zarr", tmp_path / "c.zarr"
    assert gangsaw.compress(path, store).notes == ()
    assert gangsaw.verify(store, against=path).problems == ()
    assert name in opens_without_a_warning(store)
    assert gangsaw.decompress(store, copy) == ()
    found = zarr.open_group(copy)[name]
    assert isinstance(found, zarr.Array)
    assert found.dtype == wanted.dtype
    assert DTYPE not in found.attrs
    np.testing.assert_array_equal(np.asarray(found[...]), wanted)
    assert gangsaw.verify(copy, against=path).problems == ()


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_a_table_of_many_rows_goes_chunk_by_chunk(tmp_path: Path) -> None:
    table = np.zeros(2_000_000, RECORD)
    table["id"] = np.arange(len(table))
    path = source(tmp_path / "a.zarr", {"table": table, "code": np.full(20_000_000, b"x", "S1")})
    summary = gangsaw.compress(path, tmp_path / "b.zarr")
    assert set(summary.arrays) == {"image", "table", "code"}
    assert gangsaw.verify(tmp_path / "b.zarr", against=path).ok
    gangsaw.decompress(tmp_path / "b.zarr", tmp_path / "c.zarr")
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "c.zarr")["table"][...], table)


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
def test_a_store_that_lacks_or_changes_a_variable_is_not_equal(tmp_path: Path) -> None:
    path = source(tmp_path / "a.zarr", {"table": KINDS["table"], "bytes": KINDS["bytes"]})
    image = gangsaw.compress(path, tmp_path / "image.zarr", variables=["image"])
    problems = gangsaw.verify(image.store, against=path).problems
    assert problems == tuple(
        f"{name}: in the source, not in the store" for name in ("bytes", "table")
    )
    other = np.dtype([("key", "i4"), ("x", "f8"), ("name", "S4")])
    changed = source(tmp_path / "o.zarr", {"table": KINDS["table"].view(other)})
    gangsaw.compress(changed, tmp_path / "other.zarr")
    (problem,) = gangsaw.verify(
        tmp_path / "other.zarr", against=path, variables=["image", "table"]
    ).problems
    assert problem == "table: the store holds items of another type"


def objects(path: Path) -> Path:
    """Write a store of format 2 as its older libraries did, with kinds that zarr does not read."""
    source(path, {}, 2)
    encoded = {
        "json2": numcodecs.JSON().encode(np.array([{"a": 1}, None], object)),
        "vlen-bytes": numcodecs.VLenBytes().encode(np.array([b"a", b"\xff\0"], object)),
        "vlen-utf8": numcodecs.VLenUTF8().encode(np.array(["a", "é"], object)),
    }
    for name, data in encoded.items():
        metadata = {"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "order": "C"}
        metadata |= {"compressor": None, "fill_value": None, "filters": [{"id": name}]}
        (path / name).mkdir()
        (path / name / ".zarray").write_text(json.dumps(metadata))
        (path / name / "0").write_bytes(bytes(data))
    return path


def test_what_zarr_cannot_read_is_named_and_left_out_by_leave(tmp_path: Path) -> None:
    path, store = objects(tmp_path / "a.zarr"), tmp_path / "b.zarr"
    says = r"json2 holds \|O \(json2\), which zarr cannot read"
    with pytest.raises(BadParams, match=f"{says}.*--variable.*--accept-loss"):
        gangsaw.compress(path, store)
    with pytest.raises(BadParams, match=says):
        gangsaw.compress(path, store, variables=["image", "json2"], accept_loss=True)
    summary = gangsaw.compress(path, store, accept_loss=True)
    (note,) = summary.notes
    assert note.startswith("left out: json2 holds |O")
    assert zarr.open_group(store).attrs[LEFT_OUT] == [note.removeprefix("left out: ")]
    (problem,) = gangsaw.verify(store, against=path).problems
    assert "json2" in problem
    assert gangsaw.verify(store, against=path, accept_loss=True).ok
    assert gangsaw.compress(path, tmp_path / "c.zarr", variables=["image"]).notes == ()


@pytest.mark.filterwarnings("ignore:The data type:zarr.errors.UnstableSpecificationWarning")
def test_bytes_of_any_length_stay_bytes(tmp_path: Path) -> None:
    path, store = objects(tmp_path / "a.zarr"), tmp_path / "b.zarr"
    gangsaw.compress(path, store, accept_loss=True)
    assert set(opens_without_a_warning(store)) == {"image", "vlen-bytes", "vlen-utf8"}
    gangsaw.decompress(store, tmp_path / "c.zarr")
    copy = zarr.open_group(tmp_path / "c.zarr")
    assert copy["vlen-bytes"][...].tolist() == [b"a", b"\xff\0"]
    assert copy["vlen-utf8"][...].tolist() == ["a", "é"]
    assert gangsaw.verify(tmp_path / "c.zarr", against=path, accept_loss=True).ok


def test_commands_take_the_loss(gangsaw: CommandLine, tmp_path: Path) -> None:
    path, store = objects(tmp_path / "a.zarr"), tmp_path / "b.zarr"
    assert gangsaw("compress", path, store, "--workers", 0).code == 2
    assert not store.exists()
    told = gangsaw.ok("compress", path, store, "--workers", 0, "--accept-loss")
    assert "json2" in told.out
    assert gangsaw("verify", store, "--against", path, "--workers", 0).code == 1
    gangsaw.ok("verify", store, "--against", path, "--workers", 0, "--accept-loss")


@pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", ["image", "bytes", "unicode", "day", "text", "scalar", "table"])
def test_a_root_array_comes_back_as_one(tmp_path: Path, name: str, zarr_format: int) -> None:
    values = {**KINDS, "image": np.arange(60, dtype=">i2").reshape(3, 4, 5)}[name]
    if zarr_format == 2 and values.dtype.kind == "V":
        pytest.skip("zarr cannot create it")
    path, store, copy = (tmp_path / f"{name}.zarr" for name in "abc")
    made = zarr.create_array(
        path,
        shape=values.shape,
        dtype=values.dtype,
        attributes={"units": "m"},
        zarr_format=2 if zarr_format == 2 else 3,
    )
    made[...] = values
    gangsaw.compress(path, store)
    opens_without_a_warning(store)
    assert gangsaw.verify(store, against=path).problems == ()
    for how in ({}, {"overwrite": True}, {"resume": True}):
        gangsaw.decompress(store, copy, **how)  # type: ignore[arg-type]
        found = zarr.open(copy)
        assert isinstance(found, zarr.Array)
        native = values.dtype if name == "text" else values.dtype.newbyteorder("=")
        assert (found.dtype, found.attrs["units"]) == (native, "m")
        np.testing.assert_array_equal(np.asarray(found[...]), values)
    assert gangsaw.verify(copy, against=path).problems == ()
    assert not list((tmp_path / "c.zarr").glob("data*"))


def test_times_become_those_of_cf_in_netcdf(tmp_path: Path) -> None:
    path = source(tmp_path / "a.zarr", {"day": KINDS["day"], "tick": np.array([5, 6], "m8[ms]")})
    gangsaw.compress(path, tmp_path / "b.zarr")
    gangsaw.decompress(tmp_path / "b.zarr", tmp_path / "c.nc")
    with xr.open_dataset(tmp_path / "c.nc") as found:
        np.testing.assert_array_equal(found.day, KINDS["day"].astype("M8[ns]"))
        np.testing.assert_array_equal(found.tick, np.array([5, 6], "m8[ms]"))
    with netCDF4.Dataset(tmp_path / "c.nc") as raw:
        assert raw["day"].units == "days since 1970-01-01"


def test_types_as_json() -> None:
    inner = np.dtype([("a", "<i2"), ("b", "<f4", (2, 3))], align=True)
    for dtype in (RECORD, inner, np.dtype([("p", inner), ("q", "S2")]), np.dtype((">i4", (3,)))):
        again = dtype_of(json.loads(json.dumps(describe_kind(dtype))))
        assert again == dtype
    for wrong in ({"fields": [["a"]], "itemsize": 1}, {}, 3, "nonsense", None):
        with pytest.raises(BadParams, match="describes no type"):
            dtype_of(wrong)


def test_items_of_any_length_as_bytes() -> None:
    kind = {
        "fields": [["n", "<i4", 0], ["t", "text", 8], ["v", {"vlen": {"vlen": "<i2"}}, 16]],
        "itemsize": 32,
    }
    item = {"n": 3, "t": "é", "v": [np.arange(2, dtype="i2"), np.arange(0, dtype="i2")]}
    data = pack_item(item, kind)
    n, text, lists = unpack_item(data, kind)  # type: ignore[misc]
    assert (n, text, [part.tolist() for part in lists]) == (
        3,
        "é".encode(),
        [[0, 1], []],
    )  # type: ignore[has-type]
    for damaged in (data[:-1], data + b"\0", b"\xff" * 40, b""):
        with pytest.raises(BadParams):
            unpack_item(damaged, kind)
