"""The Airborne Observation Platform of NEON: a flight line or tile of reflectance or radiance.

The group of a site has Reflectance/Reflectance_Data (rows, columns, bands), whose axes have no
names, and below Metadata the wavelengths and the place on the map, as ENVI writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.tasks.formats.xarrays import XarrayArray, XarraySource, variables_of
from gangsaw.tasks.hyperspectral.products.product import Cube, plain_arrays, repeated
from gangsaw.tasks.source import Coordinate
from gangsaw.tasks.store.as_read import added
from gangsaw.tasks.store.paths import last

if TYPE_CHECKING:
    import h5py

KINDS = ("Reflectance", "Radiance")
SPECTRAL, PLACE = "Metadata/Spectral_Data", "Metadata/Coordinate_System"
FILL = "Data_Ignore_Value"


def is_own(file: h5py.File) -> bool:
    """Whether the file is such a product."""
    return any(f"{site}/{kind}/{SPECTRAL}" in file for site in file for kind in KINDS)


def cubes(source: XarraySource) -> Iterator[Cube]:
    """Say what is known of the arrays."""
    for array in plain_arrays(source):
        group, _, name = array.name.rpartition("/")
        if last(group) in KINDS and name == f"{last(group)}_Data" and len(array.shape) == 3:
            yield _cube(source, array, group)


def _cube(source: XarraySource, array: XarrayArray, group: str) -> Cube:
    near: list[XarrayArray | Coordinate] = [
        repeated(variable, group, ("band",))
        for variable in variables_of(source.path, f"{group}/{SPECTRAL}")
        if variable.shape == array.shape[2:] and last(variable.name) in ("Wavelength", "FWHM")
    ]
    near += _place(source.path, group, array.shape)
    fill = np.ravel(np.asarray(array.attrs.get(FILL, ())))
    attrs = {"_FillValue": fill[0].astype(array.dtype).item()} if fill.size == 1 else {}
    return Cube(array.name, ("y", "x", "band"), tuple(near), attrs)


def _place(path: str, group: str, shape: tuple[int, ...]) -> Iterator[Coordinate]:
    """Yield the centres of rows and columns, where the map is not rotated."""
    import h5py

    with h5py.File(path, "r") as file:
        held = file.get(f"{group}/{PLACE}/Map_Info")
        info = held.asstr()[()] if isinstance(held, h5py.Dataset) and held.shape == () else ""
    parts = [part.strip() for part in str(info).split(",")]
    try:
        column, row, x, y, dx, dy = (float(part) for part in parts[1:7])
    except ValueError:
        return
    if any("rotation" in part.lower() for part in parts):
        return
    attrs = added({"units": "m"}, f"{group}/{PLACE}/Map_Info")
    # the reference pixel counts from 1 at the outer corner of the upper left pixel
    rows, columns = np.arange(shape[0]), np.arange(shape[1])
    yield Coordinate(f"{group}/y", ("y",), y - (rows + 1.5 - row) * dy, attrs)
    yield Coordinate(f"{group}/x", ("x",), x + (columns + 1.5 - column) * dx, attrs)
