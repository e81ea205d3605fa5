"""NEON Airborne Observation Platform: a flight line or tile of reflectance or radiance.

The group of a site has Reflectance/Reflectance_Data (rows, columns, bands), whose axes have no
names. The group Metadata has the wavelengths and the map information in ENVI's form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.tasks.formats.envi.georeference import MAPPING, map_coordinates
from gangsaw.tasks.formats.hdf5.source import XarrayArray, XarraySource, open_variables
from gangsaw.tasks.hyperspectral.products.product import Cube, copy_coordinate, plain_arrays
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.dataset.original_form import mark_repeated
from gangsaw.tasks.store.dataset.paths import last_component

if TYPE_CHECKING:
    import h5py

KINDS = ("Reflectance", "Radiance")
SPECTRAL, PLACE = "Metadata/Spectral_Data", "Metadata/Coordinate_System"
FILL, UNITS = "Data_Ignore_Value", "Units"


def is_own(file: h5py.File) -> bool:
    """Return True if the file is a NEON product."""
    return any(f"{site}/{kind}/{SPECTRAL}" in file for site in file for kind in KINDS)


def cubes(source: XarraySource) -> Iterator[Cube]:
    """Yield the axes and coordinates of each image cube of the product."""
    for array in plain_arrays(source):
        group, _, name = array.name.rpartition("/")
        if (
            last_component(group) in KINDS
            and name == f"{last_component(group)}_Data"
            and len(array.shape) == 3
        ):
            yield _cube(source, array, group)


def _cube(source: XarraySource, array: XarrayArray, group: str) -> Cube:
    near: list[XarrayArray | Coordinate] = [
        copy_coordinate(_with_units(variable), group, ("band",))
        for variable in open_variables(source.path, f"{group}/{SPECTRAL}")
        if variable.shape == array.shape[2:]
        and last_component(variable.name) in ("Wavelength", "FWHM")
    ]
    place = list(_map_coordinates(source.path, group, array.shape))
    near += place
    fill = np.ravel(np.asarray(array.attrs.get(FILL, ())))
    attrs: dict[str, object] = {}
    if fill.size == 1:
        attrs["_FillValue"] = fill[0].astype(array.dtype).item()
    if any(coord.is_mapping for coord in place):
        attrs["grid_mapping"] = MAPPING
    return Cube(array.name, ("y", "x", "band"), tuple(near), attrs)


def _with_units(variable: XarrayArray) -> XarrayArray:
    """Return a variable with the CF attribute `units`: NEON writes `Units`."""
    units = variable.attrs.get(UNITS)
    return replace(variable, attrs={"units": units, **variable.attrs}) if units else variable


def _map_coordinates(path: str, group: str, shape: tuple[int, ...]) -> Iterator[Coordinate]:
    """Yield the map coordinates, as for an ENVI scene: y, x and `spatial_ref`."""
    import h5py

    origin = f"{group}/{PLACE}/Map_Info"
    with h5py.File(path, "r") as file:
        held = file.get(origin)
        info = held.asstr()[()] if isinstance(held, h5py.Dataset) and held.shape == () else ""
    parts = [part.strip() for part in str(info).split(",")]
    for coord in map_coordinates({"map info": parts}, "", (shape[0], shape[1])):
        yield replace(coord, name=f"{group}/{coord.name}", attrs=mark_repeated(coord.attrs, origin))
