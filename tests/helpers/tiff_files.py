"""Odd GeoTIFF files, made by rasterio, and what one holds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

SHAPE = (3, 50, 40)  # bands, rows, columns
UTM = "EPSG:32632"


def samples(dtype: str, n_bands: int = SHAPE[0], sides: tuple[int, int] = SHAPE[1:]) -> Any:
    rng = np.random.default_rng(5)
    kind = np.dtype(dtype)
    found = rng.integers(0, 100, (n_bands, *sides))
    return found.astype(kind) if kind.kind != "c" else (found + 1j * found[::-1]).astype(kind)


def placed() -> Mapping[str, object]:
    """A usual grid in UTM."""
    import rasterio

    return {"crs": UTM, "transform": rasterio.Affine(10.0, 0, 5e5, 0, -10.0, 4e6)}


def tiff(path: Path, dtype: str = "uint16", n_bands: int = SHAPE[0], **layout: object) -> Path:
    """Write an image; `layout` are options of rasterio and of GDAL's driver."""
    import rasterio

    options = {"driver": "GTiff", "count": n_bands, "dtype": dtype, **layout}
    options = {"height": SHAPE[1], "width": SHAPE[2], **options}
    kind = {"complex_int16": "complex64"}.get(dtype, dtype)
    with rasterio.open(path, "w", **options) as image:
        image.write(samples(kind, n_bands, (options["height"], options["width"])))
    return path


def described(path: Path) -> dict[str, Any]:
    """What rasterio says of a file: everything but how its samples are laid out."""
    import rasterio

    names = "crs transform nodata nodatavals descriptions scales offsets units colorinterp"
    with rasterio.open(path) as image:
        found = {name: getattr(image, name) for name in names.split()}
        points, crs = image.gcps
        gcps = [(p.row, p.col, p.x, p.y, p.z) for p in points]
        return {
            **found,
            "rpcs": image.rpcs,
            "gcps": (gcps, crs),
            "flags": image.mask_flag_enums,
            "tags": [_tags(image, number) for number in range(image.count + 1)],
        }


def _tags(image: Any, number: int) -> dict[str, Any]:
    derived = {"IMAGE_STRUCTURE", "DERIVED_SUBDATASETS", "rio_overview"}
    domains = ["", *(set(image.tag_namespaces(number)) - derived)]
    found = {domain: image.tags(number, ns=domain or None) for domain in domains}
    found[""].pop("GANGSAW_BAND_COORDINATES", None)
    return {domain: tags for domain, tags in found.items() if tags}


def read(path: Path) -> tuple[Any, Any]:
    """Samples and masks of all bands."""
    import rasterio

    with rasterio.open(path) as image:
        return image.read(), image.read_masks()
