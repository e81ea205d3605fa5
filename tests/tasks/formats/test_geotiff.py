"""GeoTIFF into a store and back: samples, masks and all that the file says, by rasterio."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr
from helpers.command_line import CommandLine
from helpers.tiff_files import SHAPE, UTM, described, placed, read, samples, tiff

import gangsaw
from gangsaw import BadParams

rasterio = pytest.importorskip("rasterio", reason="GeoTIFF needs the extra io")
pytest.importorskip("rioxarray", reason="GeoTIFF needs the extra io")
pytestmark = [
    # rioxarray 0.19 multiplies transforms in a way that affine 3 announces to give up
    pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning"),
]

ODD: dict[str, dict[str, Any]] = {
    "tiled": {"tiled": True, "blockxsize": 16, "blockysize": 32, "compress": "deflate"},
    "striped": {"blockysize": 7, "compress": "lzw", "predictor": 2},
    "planar": {"interleave": "band"},
    "pixel": {"interleave": "pixel"},
    "big": {"bigtiff": "YES", "dtype": "float64", "nodata": math.nan},
    "big endian": {"endianness": "BIG", "dtype": "int32", "nodata": -9999},
    "jpeg": {"dtype": "uint8", "compress": "jpeg", "photometric": "YCBCR", "interleave": "pixel"},
    "one bit": {"dtype": "uint8", "nbits": 1, "n_bands": 1},
    "half": {"dtype": "float32", "nbits": 16},
    "int8": {"dtype": "int8", "nodata": -128},
    "int64": {"dtype": "int64"},
    "uint64": {"dtype": "uint64", "nodata": 7},
    "complex": {"dtype": "complex64"},
    "complex int": {"dtype": "complex_int16"},
    "alpha": {"dtype": "uint8", "n_bands": 4, "photometric": "RGB", "alpha": "yes"},
    "rotated": {"transform": rasterio.Affine(1, 0.5, 7, 0.5, -1, 9)},
    "south up": {"transform": rasterio.Affine(0.1, 0, 5, 0, 0.1, 40), "crs": "EPSG:4326"},
    "no place": {"transform": rasterio.Affine.identity(), "crs": None},
}


@pytest.mark.parametrize("cog", ["no", "yes"])
@pytest.mark.parametrize("kind", ODD)
def test_odd_files_come_back(tmp_path: Path, kind: str, cog: str) -> None:
    source = tiff(tmp_path / "a.tif", **{**placed(), **ODD[kind]})
    check_round_trip(source, cog)


# heights that are no multiple of a strip's rows; bands of one strip, of a few and of thousands
LARGE: dict[str, dict[str, Any]] = {
    "bytes": {"dtype": "uint8", "height": 1000, "width": 1003},
    "two bands": {"dtype": "uint16", "n_bands": 2, "height": 601, "width": 600},
    "tiles": {"dtype": "int16", "height": 1001, "width": 1003, **ODD["tiled"]},
    "strips": {"dtype": "float32", "height": 1009, "width": 777, **ODD["striped"]},
    "pixels": {"dtype": "float64", "height": 1013, "width": 512, "interleave": "pixel"},
    "tall": {"dtype": "complex64", "n_bands": 2, "height": 12_007, "width": 11},
    "wide": {"dtype": "uint16", "n_bands": 2, "height": 11, "width": 140_001},
    "many bands": {"dtype": "uint16", "n_bands": 53, "height": 1003, "width": 131},
    "one band": {"dtype": "float32", "n_bands": 1, "height": 2003, "width": 1009},
}


@pytest.mark.parametrize("cog", ["no", "yes"])
@pytest.mark.parametrize("kind", LARGE)
def test_images_of_usual_sizes_come_back(tmp_path: Path, kind: str, cog: str) -> None:
    source = tiff(tmp_path / "a.tif", **{**placed(), **LARGE[kind]})
    check_round_trip(source, cog)


def check_round_trip(source: Path, cog: str) -> None:
    report, copy = round_trip(source, cog=cog)
    assert report.problems == ()
    for found, wanted in zip(read(copy), read(source), strict=True):
        assert found.dtype == wanted.dtype
        assert found.tobytes() == wanted.tobytes()
    assert same(described(copy), described(source))


def round_trip(source: Path, **options: str) -> tuple[Any, Path]:
    store, copy = source.with_name("s.zarr"), source.with_name("copy.tif")
    gangsaw.compress(source, store)
    gangsaw.decompress(store, copy, **options)
    assert sorted(path.name for path in source.parent.glob("*copy*")) == ["copy.tif"]
    return gangsaw.verify(store, against=source), copy


def same(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    assert {key: repr(value) for key, value in found.items()} == {
        key: repr(value) for key, value in wanted.items()
    }
    return True


def said_of_bands(image: Any) -> None:
    image.descriptions = ("red", "", "née")
    image.scales, image.offsets = (0.1, 0.2, 1.0), (0.0, 1.0, -5.5)
    image.units = ("K", "", "m")
    image.update_tags(AREA_OR_POINT="Point", TIFFTAG_SOFTWARE="x", scale_factor="no number", A="1")
    image.update_tags(2, STATISTICS_MEAN="5")
    image.update_tags(3, ns="IMAGERY", CLOUDCOVER="3")


def test_what_bands_say_comes_back(tmp_path: Path) -> None:
    source = tiff(tmp_path / "a.tif", **placed())
    with rasterio.open(source, "r+") as image:
        said_of_bands(image)
    for cog in ("no", "yes"):
        _, copy = round_trip(source, cog=cog)
        assert same(described(copy), described(source))
        copy.unlink()
        gangsaw_folder(tmp_path / "s.zarr")


def gangsaw_folder(store: Path) -> None:
    import shutil

    shutil.rmtree(store)


def test_tags_of_domains_come_back_and_are_named_where_a_cog_lacks_them(tmp_path: Path) -> None:
    source = tiff(tmp_path / "a.tif", **placed())
    with rasterio.open(source, "r+") as image:
        image.update_tags(ns="ENVI", sensor="x")
        image.update_tags(ns="xml:XMP", **{"<x a": '"b"/>'})
    _, copy = round_trip(source)
    assert same(described(copy), described(source))
    with pytest.raises(BadParams, match=r"cannot hold tag ENVI:sensor; --accept-loss"):
        gangsaw.decompress(tmp_path / "s.zarr", tmp_path / "c.tif", cog="yes")
    assert not (tmp_path / "c.tif").exists()


@pytest.mark.parametrize("where", ["internal", "beside"])
def test_masks_come_back(tmp_path: Path, where: str) -> None:
    source = tiff(tmp_path / "a.tif", **placed())
    internal = "YES" if where == "internal" else "NO"
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=internal), rasterio.open(source, "r+") as image:
        image.write_mask(np.random.default_rng(1).integers(0, 2, SHAPE[1:]).astype(bool))
    assert (tmp_path / "a.tif.msk").exists() == (where == "beside")
    report, copy = round_trip(source)
    assert report.problems == ()
    assert np.array_equal(read(copy)[1], read(source)[1])
    stored = xr.open_zarr(tmp_path / "s.zarr")["mask"]
    assert np.array_equal(stored.values, read(source)[1][0])
    with pytest.raises(BadParams, match="several arrays, name one with --variable: data, mask"):
        gangsaw.decompress(tmp_path / "s.zarr", tmp_path / "a.hdr")


def test_palettes_come_back(tmp_path: Path) -> None:
    source = tiff(tmp_path / "a.tif", "uint8", 1, photometric="palette", **placed())
    colours = {i: (i, 255 - i, 7, 255) for i in range(256)}
    with rasterio.open(source, "r+") as image:
        image.write_colormap(1, colours)
    for cog in ("no", "yes"):
        copy = tmp_path / f"{cog}.tif"
        if cog == "no":
            gangsaw.compress(source, tmp_path / "s.zarr")
        gangsaw.decompress(tmp_path / "s.zarr", copy, cog=cog)
        with rasterio.open(copy) as image:
            assert image.colormap(1) == colours
            assert image.colorinterp[0].name == "palette"


def test_ground_control_points_and_rpcs_come_back(tmp_path: Path) -> None:
    from rasterio.control import GroundControlPoint as Point
    from rasterio.rpc import RPC

    points = [Point(0, 0, 1, 2, 3), Point(9, 8, 6, 7, 8), Point(0, 5, 6, 2, 0)]
    ones = [0.1 * i for i in range(20)]
    numbers = {
        f"{a}_{b}": 1.5 for a in ("height", "lat", "line", "long", "samp") for b in ("off", "scale")
    }
    lists = {f"{a}_{b}_coeff": ones for a in ("line", "samp") for b in ("num", "den")}
    source = tiff(tmp_path / "a.tif", gcps=points, crs="EPSG:4326", rpcs=RPC(**numbers, **lists))
    for cog in ("no", "yes"):
        _, copy = round_trip(source, cog=cog)
        assert same(described(copy), described(source))
        copy.unlink()
        gangsaw_folder(tmp_path / "s.zarr")


def test_xarray_sees_grid_and_nodata(tmp_path: Path) -> None:
    source = tiff(tmp_path / "a.tif", nodata=65535, **placed())
    gangsaw.compress(source, tmp_path / "s.zarr")
    data = xr.open_zarr(tmp_path / "s.zarr", mask_and_scale=False)["data"]
    assert data.rio.crs.to_epsg() == 32632
    assert data.rio.transform() == placed()["transform"]
    assert data.rio.nodata == 65535
    assert data.dtype.name == "uint16"
    assert xr.open_zarr(tmp_path / "s.zarr")["data"].rio.encoded_nodata == 65535


def test_samples_stay_integers_in_xarray(tmp_path: Path) -> None:
    """A scale of 1 and an offset of 0 would make floats of them."""
    gangsaw.compress(tiff(tmp_path / "a.tif", **placed()), tmp_path / "s.zarr")
    assert xr.open_zarr(tmp_path / "s.zarr")["data"].dtype.name == "uint16"


@pytest.mark.parametrize("nodata", [-9999, math.nan, 1e20])
def test_nodata_that_no_sample_can_have(tmp_path: Path, nodata: float) -> None:
    """GDAL writes none; other programs do."""
    path = tiff(tmp_path / "a.tif", "uint8", nodata=77, **placed())
    text = {-9999: b"-9", 1e20: b"1e9"}.get(nodata, b"nan")
    data = path.read_bytes()
    at = data.index(b"77\0")
    path.write_bytes(data[:at] + text[:2] + data[at + 2 :])
    gangsaw.compress(path, tmp_path / "s.zarr")
    assert xr.open_zarr(tmp_path / "s.zarr")["data"].shape == SHAPE


def test_overviews_are_built_again(tmp_path: Path) -> None:
    source = tiff(tmp_path / "a.tif", **placed())
    with rasterio.open(source, "r+") as image:
        image.build_overviews([2, 4], rasterio.enums.Resampling.average)
    _, copy = round_trip(source)
    with rasterio.open(copy) as found:
        assert found.overviews(1) == [2, 4]
    with rasterio.open(source, OVERVIEW_LEVEL=0) as a, rasterio.open(copy, OVERVIEW_LEVEL=0) as b:
        assert np.array_equal(a.read(), b.read())


def test_one_of_several_images(tmp_path: Path) -> None:
    path = tiff(tmp_path / "a.tif", "uint8", 1)
    tiff(path, "uint16", 2, append_subdataset="YES")
    with pytest.raises(
        BadParams, match="holds several images: select one by --group; there are 1 and 2"
    ):
        gangsaw.compress(path, tmp_path / "s.zarr")
    gangsaw.compress(path, tmp_path / "s.zarr", group="2")
    found = zarr.open_group(tmp_path / "s.zarr", mode="r")["data"]
    assert np.array_equal(found[...], samples("uint16", 2))


def test_a_rotated_image_costs_no_centres(tmp_path: Path) -> None:
    """Two arrays of the image's extents, of eight bytes a pixel, were made of the transform."""
    path = tiff(tmp_path / "a.tif", transform=rasterio.Affine(1, 0.5, 7, 0.5, -1, 9), crs=UTM)
    gangsaw.compress(path, tmp_path / "s.zarr")
    assert set(xr.open_zarr(tmp_path / "s.zarr").variables) == {"data", "band", "spatial_ref"}


def cube_store(path: Path, dims: tuple[str, ...] = ("y", "x", "band")) -> Path:
    """A store that was no GeoTIFF, with what one has a place for."""
    values = samples("int16").transpose(1, 2, 0)
    coords: dict[str, Any] = {"wavelength": (dims[2], [1.5, 2.5, 1e-3], {"units": "um"})}
    names = (dims[2], np.array(["a", "b", "c"], np.dtypes.StringDType()))
    data = xr.Dataset({"data": (dims, values, {"units": "K", "title": "t"})}, coords)
    data.assign_coords(label=names).to_zarr(path, zarr_format=3, consolidated=False)
    return path


def test_other_stores_become_geotiff(tmp_path: Path) -> None:
    gangsaw.decompress(cube_store(tmp_path / "a.zarr"), tmp_path / "a.tif")
    with rasterio.open(tmp_path / "a.tif") as image:
        assert np.array_equal(image.read(), samples("int16"))
        assert image.units == ("K",) * 3
        assert image.tags(3) == {"wavelength": "0.001", "label": "c"}
    gangsaw.compress(tmp_path / "a.tif", tmp_path / "b.zarr")
    back = xr.open_zarr(tmp_path / "b.zarr")
    assert back.wavelength.values.tolist() == [1.5, 2.5, 1e-3]
    assert back.wavelength.attrs["units"] == "um"
    assert back.label.values.tolist() == ["a", "b", "c"]


def test_each_loss_is_named(tmp_path: Path) -> None:
    store = tmp_path / "a.zarr"
    values = {"radiance": (("lat", "lon"), np.ones((5, 4), "f4"))}
    coords = {"lat": [1.0, 2.0, 4.0, 8.0, 16.0], "time": 5}
    data = xr.Dataset(values, coords)
    data.to_zarr(store, zarr_format=3, consolidated=False)
    zarr.open_group(store, mode="r+").create_group("below").create_array("z", data=np.ones(3))
    line = "names of the axes lat, lon, coordinate below/z, coordinate lat and coordinate time"
    with pytest.raises(BadParams, match=line):
        gangsaw.decompress(store, tmp_path / "a.tif")
    assert list(tmp_path.iterdir()) == [store]
    lost = gangsaw.decompress(store, tmp_path / "a.tif", accept_loss=True)
    assert "coordinate time" in lost
    assert np.array_equal(read(tmp_path / "a.tif")[0][0], np.ones((5, 4), "f4"))


@pytest.mark.parametrize(
    ("dtype", "why"), [("float16", "no float16 samples"), ("bool", "no bool samples")]
)
def test_dtypes_that_geotiff_lacks(tmp_path: Path, dtype: str, why: str) -> None:
    if rasterio.dtypes.check_dtype(dtype) and dtype == "float16":
        pytest.skip("this GDAL has half floats; test_odd_files_come_back holds them")
    zarr.create_array(tmp_path / "a.zarr", data=np.ones((3, 4), dtype), dimension_names=("y", "x"))
    with pytest.raises(BadParams, match=why):
        gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "a.tif")


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    store = tmp_path / "s.zarr"
    gangsaw.compress(tiff(tmp_path / "a.tif", **placed()), store)
    (tmp_path / "b.tif").write_bytes(b"old")
    chunk = next(path for path in (store / "data" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(chunk.read_bytes()[:-9])
    for cog in ("no", "yes"):
        with pytest.raises(gangsaw.GangsawError):
            gangsaw.decompress(store, tmp_path / "b.tif", overwrite=True, cog=cog)
    assert (tmp_path / "b.tif").read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"a.tif", "b.tif", "s.zarr"}


def test_by_commands(gangsaw: CommandLine, tmp_path: Path) -> None:
    source = tiff(tmp_path / "a.tif", **placed())
    gangsaw.ok("compress", source, tmp_path / "s.zarr", "--quiet", "--workers", 0)
    gangsaw.ok("decompress", tmp_path / "s.zarr", tmp_path / "c.tif", "--cog", "yes", "--quiet")
    with rasterio.open(tmp_path / "c.tif") as image:
        assert image.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
        assert np.array_equal(image.read(), samples("uint16"))
