"""Georeference of an image: CRS and transform, as rioxarray reads and writes them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from rasterio.crs import CRS
from rasterio.transform import Affine

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.dataset.variables import SMALL, json_attrs

if TYPE_CHECKING:
    from rasterio.io import DatasetReader

GRID = "spatial_ref"
WKT = ("crs_wkt", "spatial_ref")  # attributes of a grid mapping that hold the CRS
STEPS = 1e-6  # tolerance of pixel centres on a regular grid, in pixels


def grid_coordinates(path: str, image: DatasetReader) -> tuple[Coordinate, ...]:
    """Return `spatial_ref` with CRS, transform and ground control points, and the pixel centres.

    Centres are left out if they are large, because a file of a kilobyte may describe a huge image:
    tiles that were never written are legal. They are also left out if the grid is rotated, since
    they would have two axes. `spatial_ref` defines them.
    """
    import rioxarray

    side = max(image.width, image.height) * np.dtype("f8").itemsize
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rioxarray warns about affine and missing transforms
        found = rioxarray.open_rasterio(
            path, parse_coordinates=side <= SMALL and image.transform.is_rectilinear, cache=False
        )
    assert not isinstance(found, list)  # a list stands for several images
    return tuple(
        Coordinate(
            str(name),
            tuple(str(dim) for dim in coord.dims),
            np.asarray(coord.values),
            json_attrs(coord.attrs, coord.dtype),
        )
        for name, coord in found.coords.items()
    )


def grid_mapping(coords: Iterable[Coordinate], attrs: Mapping[str, object]) -> Coordinate | None:
    """Return the coordinate that holds the CRS of an array with these attributes."""
    wanted = str(attrs.get("grid_mapping", GRID))
    for coord in coords:
        if coord.name == wanted or set(WKT) & set(coord.attrs):
            return coord
    return None


def crs_of(mapping: Coordinate | None) -> CRS | None:
    """Return the CRS of a grid mapping, or None."""
    texts = [str(mapping.attrs[key]) for key in WKT if key in mapping.attrs] if mapping else []
    return CRS.from_user_input(texts[0]) if texts else None


def transform_of(
    mapping: Coordinate | None, coords: Iterable[Coordinate], dims: tuple[str, str]
) -> Affine | None:
    """Return the transform of a grid mapping, else of the pixel centres along `dims` (y, x).

    None if neither defines one.
    """
    text = mapping.attrs.get("GeoTransform") if mapping else None
    if text is not None:
        return Affine.from_gdal(*map(float, str(text).split()))
    centres = {coord.name: coord.values for coord in coords if coord.dims == (coord.name,)}
    dy, dx = (_step(centres.get(dim)) for dim in dims)
    if dy is None or dx is None:
        return None
    y, x = (float(centres[dim][0]) for dim in dims)
    return Affine(dx, 0.0, x - dx / 2, 0.0, dy, y - dy / 2)


def _step(centres: NumpyArray | None) -> float | None:
    """Return the spacing of pixel centres; None if they are not regular."""
    if centres is None or centres.size < 2 or centres.dtype.kind not in "iuf":
        return None
    values = centres.astype(float)
    step = float(values[-1] - values[0]) / (values.size - 1)
    regular = values[0] + step * np.arange(values.size)
    return step if step and np.abs(values - regular).max() <= abs(step) * STEPS else None
