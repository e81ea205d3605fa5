"""What a GeoTIFF's export changes without a loss is told; texts of tags come back as they were."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.tiff_files import SHAPE, placed, read, tiff

import gangsaw

rasterio = pytest.importorskip("rasterio", reason="GeoTIFF needs the extra io")
pytest.importorskip("rioxarray", reason="GeoTIFF needs the extra io")
pytestmark = [
    # rioxarray 0.19 multiplies transforms in a way that affine 3 announces to give up
    pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning"),
]
LIST = "GANGSAW_BAND_COORDINATES"


def returned(source: Path) -> tuple[tuple[str, ...], Path]:
    store, copy = source.with_name("s.zarr"), source.with_name("copy.tif")
    gangsaw.compress(source, store)
    return gangsaw.decompress(store, copy), copy


@pytest.mark.parametrize(
    ("dtype", "bits", "whole"), [("uint8", 1, 8), ("uint16", 12, 16), ("float32", 16, 32)]
)
def test_samples_of_fewer_bits_are_told(tmp_path: Path, dtype: str, bits: int, whole: int) -> None:
    source = tiff(tmp_path / "a.tif", dtype, nbits=bits, **placed())
    told, copy = returned(source)
    is_half = rasterio.dtypes.check_dtype("float16") and (dtype, bits) == ("float32", 16)
    assert told == (() if is_half else (f"samples of {bits} bits, which become {whole}",))
    np.testing.assert_array_equal(read(copy)[0], read(source)[0])


def test_palettes_of_few_colours_are_told(tmp_path: Path) -> None:
    source = tiff(tmp_path / "a.tif", "uint8", 1, nbits=1, photometric="palette", **placed())
    colours = {0: (1, 2, 3, 255), 1: (9, 8, 7, 255)}
    with rasterio.open(source, "r+") as image:
        image.write_colormap(1, colours)
    told, copy = returned(source)
    assert told == (
        "samples of 1 bits, which become 8",
        "the palette of 2 colours, which gets 256",
    )
    with rasterio.open(copy) as image:
        assert {i: image.colormap(1)[i] for i in colours} == colours


@pytest.mark.parametrize("units", [{}, {"wavelength_units": "Nanometers"}])
def test_wavelengths_of_tags_keep_their_texts(tmp_path: Path, units: dict[str, str]) -> None:
    source = tiff(tmp_path / "a.tif", **placed())
    texts = ["400", "0500.50", "6e2"]
    with rasterio.open(source, "r+") as image:
        for number, text in enumerate(texts, 1):
            image.update_tags(number, wavelength=text, **units)
    told, copy = returned(source)
    assert told == ()
    with rasterio.open(copy) as image, rasterio.open(source) as had:
        assert [image.tags(n) for n in (0, 1, 2, 3)] == [had.tags(n) for n in (0, 1, 2, 3)]
        assert LIST not in image.tags()  # the bands' own tags tell all
    import xarray as xr

    found = xr.open_zarr(tmp_path / "s.zarr")["wavelength"]
    assert found.values.tolist() == [400, 500.5, 600]


def test_wavelengths_that_were_changed_are_written(tmp_path: Path) -> None:
    import zarr

    source, store = tiff(tmp_path / "a.tif", **placed()), tmp_path / "s.zarr"
    with rasterio.open(source, "r+") as image:
        for number in (1, 2, 3):
            image.update_tags(number, wavelength=str(number * 100))
    gangsaw.compress(source, store)
    array: Any = zarr.open_array(store / "wavelength")
    array[1] = 250.5
    gangsaw.decompress(store, tmp_path / "copy.tif")
    with rasterio.open(tmp_path / "copy.tif") as image:
        found = [image.tags(number)["wavelength"] for number in (1, 2, 3)]
    assert found == ["100", "250.5", "300"]


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")  # of the source
@pytest.mark.parametrize("cog", ["no", "yes"])
def test_an_export_without_a_place_does_not_warn(tmp_path: Path, cog: str) -> None:
    source = tiff(tmp_path / "a.tif")
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK="YES"), rasterio.open(source, "r+") as image:
        image.write_mask(np.eye(*SHAPE[1:], dtype=bool))
        image.build_overviews([2])
    gangsaw.compress(source, tmp_path / "s.zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("error", rasterio.errors.NotGeoreferencedWarning)
        gangsaw.decompress(tmp_path / "s.zarr", tmp_path / "copy.tif", cog=cog)
    assert (tmp_path / "copy.tif").exists()
