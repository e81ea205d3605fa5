"""Where an ENVI image lies and which samples are none reach xarray, as GDAL reads them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import rasterio
import rioxarray  # noqa: F401
import xarray as xr
from helpers.envi_files import cube, write_envi
from pyproj import Transformer
from rasterio.crs import CRS
from rasterio.transform import from_origin

import gangsaw

pytestmark = pytest.mark.filterwarnings("ignore:Use `@`:PendingDeprecationWarning")

UTM33 = "map info = {UTM, 1, 1, 500000, 4000000, 15, 30, 33, North, WGS-84, units=Meters}\n"
SOUTH = "map info = {UTM, 2.5, 3, 500000, 4000000, 15, 30, 7, South, North America 1983}\n"
DEGREES = "map info = {Geographic Lat/Lon, 1, 1, 10.5, 51.25, 1e-4, 2e-4, WGS-84, units=Degrees}\n"
TURNED = UTM33.replace("units=Meters", "units=Meters, rotation=30.0")
STRAIGHT = UTM33.replace("units=Meters", "units=Meters, rotation=0.0")
NOWHERE = "map info = {Arbitrary, 1, 1, 100, 200, 2, 3, 0, North}\n"
LAEA = f"coordinate system string = {{{CRS.from_epsg(3035).to_wkt(version='WKT1_ESRI')}}}\n"
OTHER = "map info = {ETRS89 LAEA, 1, 1, 4321000, 3210000, 20, 20, units=Meters}\n" + LAEA


def is_same(one: CRS, other: CRS) -> bool:
    """Whether two coordinate systems, of any dialect, give a place the same numbers."""
    both = [Transformer.from_crs(4326, crs, always_xy=True) for crs in (one, other)]
    first, second = (transformer.transform(12.5, 48.25) for transformer in both)
    return bool(np.allclose(first, second, rtol=1e-12))


def stored(folder: Path, metadata: str, dtype: str = "int16") -> tuple[Path, Path]:
    """Return an image and its store."""
    header = write_envi(folder / "a.hdr", cube(dtype), metadata=metadata)
    gangsaw.compress(header, folder / "a.zarr")
    return header, folder / "a.zarr"


@pytest.mark.parametrize("metadata", [UTM33, SOUTH, DEGREES, STRAIGHT, OTHER])
def test_crs_and_transform_are_those_of_gdal(tmp_path: Path, metadata: str) -> None:
    header, store = stored(tmp_path, metadata)
    opened = xr.open_zarr(store)
    with rasterio.open(header.with_suffix(".img")) as image:
        assert is_same(opened.rio.crs, image.crs)
        assert is_same(opened["data"].rio.crs, image.crs)
        assert opened.rio.transform().almost_equals(image.transform, 1e-6)
        assert opened.rio.transform(recalc=True).almost_equals(image.transform, 1e-6)
    assert opened["x"].attrs["units"] in ("meters", "metres", "degrees")


def test_a_turned_map_has_its_transform_and_no_x(tmp_path: Path) -> None:
    header, store = stored(tmp_path, TURNED)
    opened = xr.open_zarr(store)
    with rasterio.open(header.with_suffix(".img")) as image:
        assert opened.rio.transform().almost_equals(image.transform, 1e-6)
    assert "x" not in opened.coords


def test_an_arbitrary_map_has_no_metres(tmp_path: Path) -> None:
    _, store = stored(tmp_path, NOWHERE)
    opened = xr.open_zarr(store)
    assert opened["x"].values[0] == 101
    assert "units" not in opened["x"].attrs
    assert opened.rio.crs is None


def test_a_coordinate_system_alone(tmp_path: Path) -> None:
    _, store = stored(tmp_path, LAEA)
    assert is_same(xr.open_zarr(store).rio.crs, CRS.from_epsg(3035))


@pytest.mark.parametrize(
    ("dtype", "text", "value"),
    [
        ("int16", "-9999", -9999),
        ("int16", "-9.999e3", -9999),
        ("int16", "{-9999}", -9999),
        ("float32", "-9999.0", -9999),
        ("float32", "NaN", np.nan),
        ("uint16", "-9999", None),
        ("uint16", "0.5", None),
        ("uint16", "inf", None),
        ("uint16", "none", None),
    ],
)
def test_the_data_ignore_value_masks(
    tmp_path: Path, dtype: str, text: str, value: float | None
) -> None:
    header, store = stored(tmp_path, UTM33 + f"data ignore value = {text}\n", dtype)
    encoded = xr.open_zarr(store)["data"].rio.encoded_nodata
    plain = xr.open_zarr(store, mask_and_scale=False)["data"]
    np.testing.assert_equal(encoded, value)
    assert np.array_equal(plain.values, cube(dtype), equal_nan=dtype == "float32")
    gangsaw.decompress(store, tmp_path / "b.hdr")
    assert (tmp_path / "b.hdr").read_bytes() == header.read_bytes()


def test_a_geotiff_becomes_an_envi_image_of_the_same_place(tmp_path: Path) -> None:
    profile = {"driver": "GTiff", "count": 5, "height": 7, "width": 6, "dtype": "int16"}
    place = {"crs": "EPSG:32633", "transform": from_origin(5e5, 4e6, 15, 30), "nodata": -9999}
    with rasterio.open(tmp_path / "a.tif", "w", **profile, **place) as image:
        image.write(cube("int16"))
    gangsaw.compress(tmp_path / "a.tif", tmp_path / "a.zarr")
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.hdr")
    with rasterio.open(tmp_path / "b.img") as image:
        assert image.crs == CRS.from_epsg(32633)
        assert image.transform == place["transform"]
        assert image.nodata == -9999
        assert np.array_equal(image.read(), cube("int16"))


@pytest.mark.parametrize(("dtype", "text"), [("int16", "-9"), ("float32", "nan")])
def test_the_data_ignore_value_is_nodata_of_a_geotiff(
    tmp_path: Path, dtype: str, text: str
) -> None:
    _, store = stored(tmp_path, UTM33 + f"data ignore value = {text}\n", dtype)
    gangsaw.decompress(store, tmp_path / "b.tif")
    with rasterio.open(tmp_path / "b.tif") as image:
        np.testing.assert_equal(image.nodata, float(text))
        assert np.array_equal(image.read(), cube(dtype), equal_nan=dtype == "float32")


def test_a_window_cut_out_by_xarray_keeps_its_place(tmp_path: Path) -> None:
    """What else is of the whole image is not said of the window either."""
    bands = "wavelength = {1, 2, 3, 4, 5}\nband names = {a, b, c, d, e}\nfwhm = {.1,.2,.3,.4,.5}\n"
    _, store = stored(tmp_path, SOUTH + bands)
    window = xr.open_zarr(store).isel(band=[1, 3], y=slice(2, 6), x=slice(1, None, 2)).load()
    for variable in window.variables.values():
        variable.encoding.pop("chunks", None)
    window.to_zarr(tmp_path / "w.zarr", zarr_format=3, consolidated=False)
    gangsaw.decompress(tmp_path / "w.zarr", tmp_path / "w.hdr")
    with rasterio.open(tmp_path / "w.img") as image:
        assert np.array_equal(image.read(), cube("int16")[[1, 3], 2:6, 1::2])
        centres = [image.xy(0, 0), image.xy(3, 2)]
        y, x = window["y"].values, window["x"].values
        assert np.allclose(centres, [(x[0], y[0]), (x[-1], y[-1])])
    text = (tmp_path / "w.hdr").read_text()
    assert "wavelength = {2, 4}" in text
    assert "fwhm = {0.2, 0.4}" in text
    assert "band names" not in text


@pytest.mark.parametrize("numbers", ["5e5, 4e6, 0, 15", "1e60, 4e6, 15, 15", "5e5, 4e6, 15, -15"])
def test_an_odd_map_comes_back(tmp_path: Path, numbers: str) -> None:
    header, store = stored(tmp_path, f"map info = {{UTM, 1, 1, {numbers}, 33, North, WGS-84}}\n")
    gangsaw.decompress(store, tmp_path / "b.hdr")
    assert (tmp_path / "b.hdr").read_bytes() == header.read_bytes()


def test_a_coordinate_system_that_gdal_cannot_read_is_kept_as_text_alone(tmp_path: Path) -> None:
    header, store = stored(tmp_path, 'coordinate system string = {PROJCS["half of it",GEOGCS[}\n')
    opened = xr.open_zarr(store)
    assert opened.rio.crs is None
    assert opened["data"].rio.crs is None
    gangsaw.decompress(store, tmp_path / "b.hdr")
    assert (tmp_path / "b.hdr").read_bytes() == header.read_bytes()
