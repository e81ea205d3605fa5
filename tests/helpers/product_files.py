"""Small files in the published layouts of products, written by the libraries of their makers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np

LINES, SAMPLES = 40, 30


def spectra(bands: int, seed: int = 1) -> Any:
    """(LINES, SAMPLES, bands) float64: three materials in fine texture, smooth along bands."""
    rng = np.random.default_rng(seed)
    pure = np.cumsum(rng.normal(0, 15, (bands, 3)), axis=0) + 900
    return rng.dirichlet(np.ones(3), (LINES, SAMPLES)) @ pure.T + rng.normal(0, 1.5, (bands,))


def grid(start: float) -> Any:
    """(LINES, SAMPLES) float64 of a place on the ground."""
    return start + np.linspace(0, 1, LINES * SAMPLES).reshape(LINES, SAMPLES)


def write_emit(path: Path) -> Path:
    with netCDF4.Dataset(path, "w") as file:
        file.setncatts(
            {
                "title": "EMIT L2A Estimated Surface Reflectance 60 m V001",
                "instrument": "EMIT",
                "geotransform": np.array([-118.5, 5e-4, 0.0, 34.2, 0.0, -5e-4]),
            }
        )
        sizes = {"downtrack": LINES, "crosstrack": SAMPLES, "bands": 20}
        for name, n in {**sizes, "ortho_y": 50, "ortho_x": 45}.items():
            file.createDimension(name, n)
        dims = ("downtrack", "crosstrack", "bands")
        cube = file.createVariable("reflectance", "f4", dims, fill_value=-9999.0)
        cube.units, cube.long_name = "unitless", "Surface Reflectance"
        cube[:] = spectra(20) / 4000
        group = file.createGroup("sensor_band_parameters")
        for name, kind in {"wavelengths": "f4", "fwhm": "f4", "good_wavelengths": "u1"}.items():
            made = group.createVariable(name, kind, ("bands",))
            made[:] = np.linspace(381, 2493, 20) if name == "wavelengths" else np.ones(20)
            made.units = "nm"
        place = file.createGroup("location")
        for start, name in enumerate(("lon", "lat", "elev")):
            place.createVariable(name, "f8", dims[:2], fill_value=-9999.0)[:] = grid(start)
        for name in ("glt_x", "glt_y"):
            place.createVariable(name, "i4", ("ortho_y", "ortho_x"), fill_value=0)[:] = 7
    return path


def write_pace(path: Path) -> Path:
    with netCDF4.Dataset(path, "w") as file:
        file.setncatts({"title": "PACE OCI Level-1B Data", "instrument": "OCI", "platform": "PACE"})
        sizes = {"number_of_scans": LINES, "ccd_pixels": SAMPLES, "SWIR_pixels": SAMPLES}
        for name, n in {**sizes, "blue_bands": 12, "red_bands": 10, "SWIR_bands": 9}.items():
            file.createDimension(name, n)
        bands, data = (
            file.createGroup("sensor_band_parameters"),
            file.createGroup("observation_data"),
        )
        for name, n in {"blue": 12, "red": 10, "SWIR": 9}.items():
            wave = bands.createVariable(f"{name}_wavelength", "f4", (f"{name}_bands",))
            wave[:] = np.arange(n) * 5.0 + 315
            pixels = "SWIR_pixels" if name == "SWIR" else "ccd_pixels"
            dims = (f"{name}_bands", "number_of_scans", pixels)
            cube = data.createVariable(f"rhot_{name}", "f4", dims, fill_value=-32767.0)
            cube[:] = spectra(n).transpose(2, 0, 1) / 3000
            data.createVariable(f"qual_{name}", "u1", dims)[:] = 0
        place = file.createGroup("geolocation_data")
        for start, name in enumerate(("latitude", "longitude")):
            made = place.createVariable(name, "f4", ("number_of_scans", "ccd_pixels"))
            made[:] = grid(start)
        scans = file.createGroup("scan_line_attributes")
        scans.createVariable("time", "f8", ("number_of_scans",))[:] = np.arange(LINES)
    return path


def write_prisma(path: Path) -> Path:
    """Cubes of lines, bands and samples, in plain HDF5; two bands of VNIR are unused."""
    with h5py.File(path, "w") as file:
        file.attrs["Product_ID"] = np.bytes_("PRS_L1_STD")
        fields = file.create_group("HDFEOS/SWATHS/PRS_L1_HCO/Data Fields")
        place = file.create_group("HDFEOS/SWATHS/PRS_L1_HCO/Geolocation Fields")
        for name, n in {"Vnir": 22, "Swir": 26}.items():
            file.attrs[f"List_Cw_{name}"] = np.linspace(400, 1000, n)[::-1].astype("f4")
            file.attrs[f"List_Fwhm_{name}"] = np.full(n, 11, "f4")
            file.attrs[f"List_Cw_{name}_Flags"] = np.ones(n, "i4")
            cube = spectra(n).transpose(0, 2, 1).clip(0).astype("u2")
            fields.create_dataset(f"{name.upper()}_Cube", data=cube, chunks=(8, n, 10))
            for start, kind in enumerate(("Latitude", "Longitude")):
                place[f"{kind}_{name.upper()}"] = grid(start).astype("f4")
        place["Time"] = np.arange(float(LINES))
        pan = file.create_group("HDFEOS/SWATHS/PRS_L1_PCO/Data Fields")
        pan["Cube"] = np.arange(12 * LINES, dtype="u2").reshape(LINES, 12)
    return path


def write_neon(path: Path) -> Path:
    with h5py.File(path, "w") as file:
        top = file.create_group("HARV/Reflectance")
        cube = top.create_dataset("Reflectance_Data", data=spectra(18).astype("i2"))
        cube.attrs["Data_Ignore_Value"], cube.attrs["Scale_Factor"] = -9999.0, 10000.0
        spectral = top.create_group("Metadata/Spectral_Data")
        spectral["Wavelength"] = np.linspace(381, 2510, 18)
        spectral["Wavelength"].attrs["Units"] = "nanometers"
        spectral["FWHM"] = np.full(18, 5.8)
        place = top.create_group("Metadata/Coordinate_System")
        place["Map_Info"] = (
            "UTM,  1.000,  1.000,       731000.00,       4713000.00,       1.0000000, "
            "      1.0000000,  18,  North,  WGS-84,  units=Meters, 0"
        )
        place["EPSG Code"] = "32618"
        top["Metadata/Ancillary_Imagery/Path_Length"] = grid(900).astype("f4")
        top["Metadata/to-sensor_zenith_angle"] = grid(0).astype("f4")
    return path


def write_enmap(folder: Path, *, bands: int = 8, part: str = "") -> Path:
    """An image and its metadata, which know eight bands; return the image."""
    import rasterio

    stem = "ENMAP01-____L2A-DT0000001867_20220724T104526Z_008_V010302_20230628T165614Z-"
    listed = "".join(
        f'<bandID number="{i + 1}">'
        f"<wavelengthCenterOfBand>{420.5 + 10 * i}</wavelengthCenterOfBand>"
        f"<FWHMOfBand>7.{i}</FWHMOfBand><GainOfBand>0.0001</GainOfBand>"
        "<OffsetOfBand>0</OffsetOfBand></bandID>"
        for i in range(8)
    )
    specific = (
        f"<backgroundValue>-32768</backgroundValue><bandCharacterisation>{listed}"
        "</bandCharacterisation>"
    )
    text = f'<?xml version="1.0"?><level_X><specific>{specific}</specific></level_X>'
    (folder / f"{stem}METADATA.XML").write_text(text)
    path = folder / f"{stem}SPECTRAL_IMAGE{part}.TIF"
    shape = {"width": SAMPLES, "height": LINES, "count": bands, "dtype": "int16"}
    place = rasterio.Affine(30, 0, 5e5, 0, -30, 4e6)
    with rasterio.open(
        path, "w", driver="GTiff", crs="EPSG:32632", transform=place, **shape
    ) as file:
        file.write(spectra(bands).transpose(2, 0, 1).astype("i2"))
    return path
