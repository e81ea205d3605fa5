"""Products of imaging spectrometers: their coordinates reach plain xarray, and files come back."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import rasterio
import rioxarray  # noqa: F401
import xarray as xr
from helpers import product_files
from helpers.hdf5_trees import hdf5_items, netcdf_items
from spectral.io import envi

import gangsaw
from gangsaw.tasks.formats.contract.opening import SourceOptions, find_format, open_source

PRODUCTS = ("emit", "pace", "prisma", "neon")
HCO = "HDFEOS/SWATHS/PRS_L1_HCO/Data Fields"
EPSG = 32618  # of the map of NEON's file


def write(kind: str, path: Path) -> Path:
    made: Path = getattr(product_files, f"write_{kind}")(path)
    return made


def stored(kind: str, folder: Path, group: str) -> xr.Dataset:
    """Compress a product, and open one group of the store by plain xarray."""
    path = write(kind, folder / "a.nc")
    gangsaw.compress(path, folder / "a.zarr")
    assert gangsaw.verify(folder / "a.zarr", against=path).ok
    return xr.open_zarr(folder / "a.zarr", group=group, chunks=None, consolidated=False)


@pytest.mark.parametrize("kind", PRODUCTS)
def test_a_product_is_known_by_its_content(tmp_path: Path, kind: str) -> None:
    path = write(kind, tmp_path / "any.name")
    assert find_format([str(path)]).name == kind
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["cube"] = np.zeros((2, 3, 4))
    assert find_format([str(tmp_path / "other.h5")]).name == "netcdf"


@pytest.mark.parametrize("kind", PRODUCTS)
def test_a_product_comes_back_with_its_own_variables_alone(tmp_path: Path, kind: str) -> None:
    path = write(kind, tmp_path / "a.nc")
    gangsaw.compress(path, tmp_path / "a.zarr")
    assert gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.nc") == ()
    items = netcdf_items if kind in ("emit", "pace") else hdf5_items
    assert items(tmp_path / "b.nc") == items(path)


@pytest.mark.parametrize("kind", PRODUCTS)
def test_the_whole_tree_is_kept(tmp_path: Path, kind: str) -> None:
    path = write(kind, tmp_path / "a.nc")
    gangsaw.compress(path, tmp_path / "a.zarr")
    names: list[str] = []
    with h5py.File(path) as file:
        file.visititems(lambda name, item: names.append(name) if hasattr(item, "keys") else None)
    with xr.open_datatree(tmp_path / "a.zarr", engine="zarr", chunks=None) as tree:
        assert {node.path.strip("/") for node in tree.subtree} == {"", *names}


def test_emit(tmp_path: Path) -> None:
    data = stored("emit", tmp_path, "")
    cube = data["reflectance"]
    assert set(cube.coords) == {"wavelengths", "fwhm", "good_wavelengths", "lon", "lat", "elev"}
    assert cube.wavelengths.dims == ("bands",)
    assert float(cube.wavelengths[0]) == 381
    assert cube.lat.dims == ("downtrack", "crosstrack")
    assert np.array_equal(cube.lat, product_files.grid(1))


def test_pace(tmp_path: Path) -> None:
    data = stored("pace", tmp_path, "observation_data")
    assert set(data.rhot_blue.coords) == {"blue_wavelength", "latitude", "longitude"}
    assert set(data.rhot_red.coords) == {"red_wavelength", "latitude", "longitude"}
    assert set(data.rhot_SWIR.coords) == {"SWIR_wavelength"}  # of other pixels
    assert set(data.qual_blue.coords) == {"blue_wavelength", "latitude", "longitude"}


def test_prisma(tmp_path: Path) -> None:
    data = stored("prisma", tmp_path, HCO)
    cube = data.VNIR_Cube
    assert cube.dims == ("y", "vnir_band", "x")
    names = ["Latitude_VNIR", "Longitude_VNIR", "vnir_wavelength", "vnir_fwhm", "vnir_flag"]
    assert set(cube.coords) >= set(names)
    assert cube.encoding["coordinates"].split() == names
    assert {"swir_wavelength", "Latitude_SWIR"} <= set(data.SWIR_Cube.coords)
    assert float(cube.vnir_wavelength[0]) == 1000
    info = {array.name: array for array in gangsaw.info(tmp_path / "a.zarr").arrays}
    assert info[f"{HCO}/VNIR_Cube"].params["axes"] == "yzx"


def test_neon(tmp_path: Path) -> None:
    data = stored("neon", tmp_path, "HARV/Reflectance")
    cube = data.Reflectance_Data
    assert cube.dims == ("y", "x", "band")
    assert set(cube.coords) == {"Wavelength", "FWHM", "x", "y", "spatial_ref"}
    assert cube.Wavelength.attrs["units"] == "nanometers"
    assert (float(cube.x[0]), float(cube.y[0])) == (731000.5, 4712999.5)
    assert cube.encoding["_FillValue"] == -9999


def test_neon_is_on_the_map_here_and_in_exports(tmp_path: Path) -> None:
    pytest.importorskip("rioxarray")
    data = stored("neon", tmp_path, "HARV/Reflectance")
    assert data.rio.crs.to_epsg() == EPSG
    one = SourceOptions(variables=("Reflectance_Data",))
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.hdr", source=one, accept_loss=True)
    header = envi.read_envi_header(tmp_path / "b.hdr")
    assert "UTM zone 18N" in "".join(header["coordinate system string"])
    assert header["wavelength units"] == "nanometers"
    gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.tif", source=one, accept_loss=True)
    with rasterio.open(tmp_path / "b.tif") as image:
        assert image.crs.to_epsg() == EPSG


def test_one_cube_of_a_product_keeps_its_coordinates(tmp_path: Path) -> None:
    path = product_files.write_emit(tmp_path / "a.nc")
    source = open_source(str(path), SourceOptions(variables=("reflectance",)))
    assert [array.name for array in source.arrays] == ["reflectance", "lon", "lat", "elev"]
    assert "wavelengths" in [coord.name for coord in source.coords]
    inner = open_source(str(path), SourceOptions(group="location"))
    assert [array.name for array in inner.arrays] == ["lon", "lat", "elev", "glt_x", "glt_y"]


@pytest.mark.parametrize("name", ["VNIR_Cube", f"{HCO}/VNIR_Cube", f"/{HCO}/VNIR_Cube"])
def test_one_cube_is_verified_by_the_library_however_it_is_named(tmp_path: Path, name: str) -> None:
    path, store = write("prisma", tmp_path / "a.he5"), tmp_path / "a.zarr"
    gangsaw.compress(path, store, variables=[name])
    report = gangsaw.verify(store, against=path, variables=[name])
    assert report.ok
    assert report.readers[0].startswith("h5py")


@pytest.mark.filterwarnings("ignore:Use `@` matmul:PendingDeprecationWarning")  # of rioxarray
@pytest.mark.parametrize(
    ("part", "bands", "first"), [("", 8, 420.5), ("_VNIR", 3, 420.5), ("_SWIR", 5, 450.5)]
)
def test_enmap(tmp_path: Path, part: str, bands: int, first: float) -> None:
    pytest.importorskip("rioxarray")
    path = product_files.write_enmap(tmp_path, bands=bands, part=part)
    assert find_format([str(path)]).name == "enmap"
    gangsaw.compress(path, tmp_path / "a.zarr")
    assert gangsaw.verify(tmp_path / "a.zarr", against=path).ok
    with xr.open_zarr(tmp_path / "a.zarr", chunks=None) as data:
        (cube,) = (variable for variable in data.data_vars.values() if variable.ndim == 3)
        assert {"wavelength", "fwhm", "gain", "offset"} <= set(cube.coords)
        assert float(cube.wavelength[0]) == first
        assert cube.wavelength.attrs["units"] == "nm"
        assert cube.encoding["_FillValue"] == -32768
        assert "bandCharacterisation" in str(data.metadata_xml.values)


def test_a_tiff_without_metadata_is_no_enmap(tmp_path: Path) -> None:
    pytest.importorskip("rioxarray")
    path = product_files.write_enmap(tmp_path)
    next(tmp_path.glob("*METADATA.XML")).unlink()
    assert find_format([str(path)]).name == "geotiff"


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")  # swaths have none
@pytest.mark.parametrize(
    ("kind", "name", "fields"),
    [
        ("prisma", f"{HCO}/VNIR_Cube", {"wavelength", "fwhm", "bbl"}),
        ("neon", "HARV/Reflectance/Reflectance_Data", {"wavelength", "fwhm", "map info"}),
        ("emit", "reflectance", {"wavelength", "fwhm", "bbl"}),
        ("pace", "observation_data/rhot_red", {"wavelength"}),
    ],
)
def test_an_image_keeps_what_its_product_says_of_bands(
    tmp_path: Path, kind: str, name: str, fields: set[str]
) -> None:
    store, one = tmp_path / "a.zarr", SourceOptions(variables=(name,))
    gangsaw.compress(write(kind, tmp_path / "a.nc"), store)
    gangsaw.decompress(store, tmp_path / "b.hdr", source=one, accept_loss=True)
    assert fields <= envi.read_envi_header(tmp_path / "b.hdr").keys()
    lost = gangsaw.decompress(store, tmp_path / "b.tif", source=one, accept_loss=True)
    assert not [item for item in lost if "wavelength" in item.lower()]
    with rasterio.open(tmp_path / "b.tif") as image:
        tags = {tag.rpartition("_")[2].lower().rstrip("s") for tag in image.tags(1)}
        assert "wavelength" in tags
        assert not [tag for tag in image.tags() if tag.startswith("gangsaw")]


def test_enmap_goes_through_a_geotiff_and_back(tmp_path: Path) -> None:
    gangsaw.compress(product_files.write_enmap(tmp_path), tmp_path / "a.zarr")
    lost = gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "b.tif", accept_loss=True)
    assert lost == ("coordinate metadata_xml",)
    gangsaw.compress(tmp_path / "b.tif", tmp_path / "c.zarr")
    wanted, found = (xr.open_zarr(tmp_path / f"{name}.zarr", chunks=None) for name in "ac")
    for name in ("wavelength", "fwhm", "gain", "offset", "x", "y"):
        np.testing.assert_array_equal(found[name], wanted[name])
    assert found.data.encoding["_FillValue"] == wanted.data.encoding["_FillValue"]
    assert found.rio.crs == wanted.rio.crs
    assert gangsaw.decompress(tmp_path / "a.zarr", tmp_path / "d.nc") == ()
    with xr.open_dataset(tmp_path / "d.nc") as file:
        np.testing.assert_array_equal(file.wavelength, wanted.wavelength)
