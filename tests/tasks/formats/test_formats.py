"""Raw, Zarr, NetCDF, HDF5 and GeoTIFF as sources; raw and NetCDF as exports."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.envi_files import ORDERS, cube

import gangsaw
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.axes import image_axes
from gangsaw.tasks.formats.contract.opening import SourceOptions, open_source
from gangsaw.tasks.formats.exporting.flat_export import export_raw
from gangsaw.tasks.formats.hdf5.export import export_netcdf


def whole(array: Any) -> Any:
    sent = pickle.loads(pickle.dumps(array))  # as it reaches a worker
    return sent.read(tuple(slice(0, n) for n in array.shape))


def dataset() -> xr.Dataset:
    """An array with its calibration, as CF files have it."""
    samples = cube("int16").transpose(1, 2, 0)
    attrs = {"_FillValue": np.int16(-32768), "scale_factor": 0.5, "units": "W m-2 sr-1 um-1"}
    data = xr.Dataset(
        {"radiance": (("y", "x", "wavelength"), samples, attrs), "flag": ((), np.int8(3))},
        coords={
            "wavelength": ("wavelength", np.linspace(400, 440, 5), {"units": "nm"}),
            "lat": (("y", "x"), np.linspace(0, 1, 42).reshape(7, 6)),
        },
        attrs={"title": "flight line 7"},
    )
    return data.set_coords("lat")


def write(data: xr.Dataset, path: Path, kind: str) -> None:
    if kind == "netcdf3":
        data.to_netcdf(path, engine="netcdf4", format="NETCDF3_64BIT")
    elif kind.startswith("zarr"):
        data.to_zarr(path, zarr_format=int(kind[-1]), consolidated=False)
    else:
        data.to_netcdf(path, engine="h5netcdf", encoding={"radiance": {"chunksizes": (4, 3, 5)}})


@pytest.mark.parametrize("kind", ["netcdf4", "netcdf3", "zarr2", "zarr3"])
def test_variables_are_read_as_stored(tmp_path: Path, kind: str) -> None:
    write(dataset(), tmp_path / "a", kind)
    source = open_source(str(tmp_path / "a"))
    (array,) = source.arrays
    assert (array.name, array.dims) == ("radiance", ("y", "x", "wavelength"))
    assert array.dtype.name == "int16"  # scale and mask are not applied
    assert np.array_equal(whole(array), cube("int16").transpose(1, 2, 0))
    assert array.attrs["scale_factor"] == 0.5
    assert array.attrs["_FillValue"] == -32768
    assert {coord.name for coord in source.coords} == {"wavelength", "lat", "flag"}
    assert source.attrs["title"] == "flight line 7"


def test_own_chunks_of_hdf5_are_known(tmp_path: Path) -> None:
    write(dataset(), tmp_path / "a.nc", "netcdf4")
    assert open_source(str(tmp_path / "a.nc")).arrays[0].chunks == (4, 3, 5)


def test_netcdf_export_is_the_data_set_again(tmp_path: Path) -> None:
    write(dataset(), tmp_path / "a.zarr", "zarr3")
    export_netcdf(open_source(str(tmp_path / "a.zarr")), tmp_path / "b.nc")
    with (
        xr.open_dataset(tmp_path / "b.nc", engine="h5netcdf") as copy,
        xr.open_zarr(tmp_path / "a.zarr", consolidated=False) as original,
    ):
        xr.testing.assert_identical(copy.load(), original.load())


def test_hdf5_groups_and_phony_dimensions(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["deep/cube"] = cube()
    (array,) = open_source(str(tmp_path / "a.h5"), SourceOptions(group="deep")).arrays
    assert np.array_equal(whole(array), cube())
    assert image_axes(array.dims) == "zyx"


def test_a_lone_zarr_array(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "a.zarr", data=cube())
    (array,) = open_source(str(tmp_path / "a.zarr")).arrays
    assert array.name == "data"
    assert np.array_equal(whole(array), cube())


def test_a_replaced_zarr_array_is_noticed(tmp_path: Path) -> None:
    from gangsaw.tasks.store.source import _array

    zarr.create_array(tmp_path / "a.zarr", data=cube())
    (array,) = open_source(str(tmp_path / "a.zarr")).arrays
    zarr.create_array(tmp_path / "a.zarr", data=cube()[:2], overwrite=True)
    _array.cache_clear()  # as in a worker that reads it for the first time
    with pytest.raises(BadParams, match="was replaced"):
        whole(array)


def test_variables_are_chosen_by_name(tmp_path: Path) -> None:
    data = dataset()
    data["other"] = (("y", "x"), np.ones((7, 6), "u1"))
    write(data, tmp_path / "a.zarr", "zarr3")
    chosen = SourceOptions(variables=("other",))
    source = open_source(str(tmp_path / "a.zarr"), chosen)
    assert [array.name for array in source.arrays] == ["other"]
    with pytest.raises(BadParams, match=r"no variable 'nope'; there are: .*radiance"):
        open_source(str(tmp_path / "a.zarr"), SourceOptions(variables=("nope",)))


# rioxarray 0.19 multiplies transforms in a way that affine 3 announces to give up
@pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning")
def test_geotiff(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio", reason="GeoTIFF needs the extra io")
    pytest.importorskip("rioxarray", reason="GeoTIFF needs the extra io")
    transform = rasterio.Affine(10.0, 0, 500000.0, 0, -10.0, 4000000.0)
    layout = {"width": 6, "height": 7, "count": 5, "dtype": "uint16", "transform": transform}
    with rasterio.open(tmp_path / "a.tif", "w", driver="GTiff", crs="EPSG:32633", **layout) as tif:
        tif.write(cube())
    source = open_source(str(tmp_path / "a.tif"))
    (array,) = source.arrays
    assert (array.name, array.dims) == ("data", ("band", "y", "x"))
    assert np.array_equal(whole(array), cube())
    coords = {coord.name: coord for coord in source.coords}
    assert coords["x"].values[0] == 500005.0
    assert "WGS 84 / UTM zone 33N" in coords["spatial_ref"].attrs["crs_wkt"]


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize("byte_order", ["little", "big"])
def test_raw_round_trip(tmp_path: Path, interleave: str, byte_order: str) -> None:
    samples = cube("int32")
    kind = samples.dtype.newbyteorder(byte_order)
    data = b"head" + samples.transpose(ORDERS[interleave]).astype(kind).tobytes()
    (tmp_path / "a.raw").write_bytes(data)
    layout = {"interleave": interleave, "byte_order": byte_order, "offset": 4}
    own = {"shape": (5, 7, 6), "dtype": "int32", **layout}
    source = open_source(str(tmp_path / "a.raw"), SourceOptions(own=own))
    assert source.notes == ("left out: 4 bytes of the file before the first sample",)
    (array,) = source.arrays
    assert np.array_equal(whole(array), samples.transpose(ORDERS[interleave]))
    export_raw(array, tmp_path / "b.raw", byte_order=byte_order)
    assert (tmp_path / "b.raw").read_bytes() == data[4:]
    export_raw(array, tmp_path / "c.raw", dims=("band", "y", "x"))
    assert (tmp_path / "c.raw").read_bytes() == samples.astype("<i4").tobytes()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"shape": (5, 7, 6)}, "describe it with --dtype"),
        ({"shape": (5, 7, 7), "dtype": "u2"}, "is truncated"),
        ({"shape": (5, 7, 0), "dtype": "u2"}, "positive extents"),
        ({"shape": (5, 7, 6), "dtype": "pixel"}, "unknown dtype 'pixel'"),
        ({"shape": (5, 7, 6), "dtype": "M8[s]"}, "dtype must be a number"),
        ({"shape": (5, 7, 6), "dtype": "u2", "byte_order": "odd"}, "little or big"),
        ({"shape": (5, 7, 6), "dtype": "u2", "interleave": "bpi"}, "bsq, bil or bip"),
        ({"shape": (5, 42), "dtype": "u2", "interleave": "bip"}, "needs --shape bands,rows"),
        ({}, "is of no known format"),
    ],
)
def test_raw_mistakes(tmp_path: Path, options: dict[str, object], line: str) -> None:
    (tmp_path / "a.raw").write_bytes(cube().tobytes())
    with pytest.raises(BadParams, match=line) as raised:
        open_source(str(tmp_path / "a.raw"), SourceOptions(own=options))
    assert "\n" not in str(raised.value)


def test_what_is_not_there_or_holds_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadParams, match="no such file or directory"):
        open_source(str(tmp_path / "a.hdr"))
    with pytest.raises(BadParams, match="no Zarr array or group there"):
        open_source(str(tmp_path))
    zarr.create_group(tmp_path / "a.zarr").create_group("inner")
    with pytest.raises(BadParams, match="holds no arrays; groups in it: inner"):
        open_source(str(tmp_path / "a.zarr"))
    (tmp_path / "a.nc").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
    with pytest.raises(BadParams, match="cannot be read"):
        open_source(str(tmp_path / "a.nc"))


@pytest.mark.parametrize(
    ("dims", "axes"),
    [
        (("band", "y", "x"), "zyx"),
        (("y", "band", "x"), "yzx"),
        (("y", "x", "Wavelength"), "yxz"),
        (("time", "y", "x"), "zyx"),
        (("time", "y", "x", "channel"), "yxz"),
        (("y", "x"), "zyx"),
        (("x",), "zyx"),
    ],
)
def test_the_spectral_axis_is_found_by_name(dims: tuple[str, ...], axes: str) -> None:
    assert image_axes(dims) == axes


def test_a_store_named_from_here_is_read_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker of a running scheduler has its own current directory."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    zarr.create_array(tmp_path / "a.zarr", data=cube("uint16"))
    monkeypatch.chdir(tmp_path)
    source = open_source("a.zarr")
    identity = source.identity()
    monkeypatch.chdir(elsewhere)
    assert (whole(pickle.loads(pickle.dumps(source.arrays[0]))) == cube("uint16")).all()
    assert open_source("../a.zarr").name == "../a.zarr"
    assert open_source(str(tmp_path / "a.zarr")).identity() == identity


def test_netcdf_export_of_booleans(tmp_path: Path) -> None:
    mask = np.eye(5, 7, dtype=bool)
    zarr.create_array(tmp_path / "m.zarr", data=mask)
    export_netcdf(open_source(str(tmp_path / "m.zarr")), tmp_path / "m.nc")
    with xr.open_dataset(tmp_path / "m.nc", engine="h5netcdf") as back:
        assert back["data"].dtype == bool
        assert (back["data"].values == mask).all()


@pytest.mark.parametrize("dtype", ["complex64", "float16"])
def test_netcdf_export_refuses_what_netcdf_lacks(tmp_path: Path, dtype: str) -> None:
    zarr.create_array(tmp_path / "c.zarr", data=np.zeros((3, 4), dtype))
    with pytest.raises(BadParams, match=f"NetCDF has no {dtype} samples .*c.h5, which is plain"):
        gangsaw.decompress(tmp_path / "c.zarr", tmp_path / "c.nc")
    assert not (tmp_path / "c.nc").exists()
