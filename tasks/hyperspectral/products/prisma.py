"""PRISMA of ASI, L1 to L2D: HDF-EOS5 swaths whose axes have no names.

Data Fields has cubes (lines, bands, samples), VNIR_Cube and SWIR_Cube, and images. Attributes of
the root have the wavelengths of all bands, List_Cw_Vnir and so on. Geolocation Fields has the
locations of the pixels, for each cube separately if they differ (L1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.tasks.formats.hdf5.source import XarrayArray, XarraySource, open_variables
from gangsaw.tasks.hyperspectral.products.product import Cube, copy_coordinate, plain_arrays
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.dataset.original_form import mark_repeated
from gangsaw.tasks.store.dataset.paths import last_component

if TYPE_CHECKING:
    import h5py

SWATHS, FIELDS, PLACES = "HDFEOS/SWATHS", "Data Fields", "Geolocation Fields"
LISTS = {"List_Cw": "wavelength", "List_Fwhm": "fwhm", "List_Cw_{}_Flags": "flag"}
UNITS = {"wavelength": {"units": "nm"}, "fwhm": {"units": "nm"}, "flag": {}}


def is_own(file: h5py.File) -> bool:
    """Return True if the file is a PRISMA product."""
    return any(name.startswith("PRS_") for name in file.get(SWATHS, ()))


def cubes(source: XarraySource) -> Iterator[Cube]:
    """Yield the axes and coordinates of each cube and each image of the product."""
    for group in dict.fromkeys(a.name.rpartition("/")[0] for a in plain_arrays(source)):
        if group.startswith(SWATHS) and last_component(group) == FIELDS:
            places = open_variables(source.path, f"{group.rpartition('/')[0]}/{PLACES}")
            of_group = (a for a in plain_arrays(source) if a.name.rpartition("/")[0] == group)
            for array in of_group:
                yield from _cube(array, group, places, source.attrs)


def _cube(
    array: XarrayArray, group: str, locations: Iterable[XarrayArray], attrs: Mapping[str, object]
) -> Iterator[Cube]:
    sensor = (
        last_component(array.name).partition("_")[0].lower()
    )  # vnir or swir; an image has any other word
    is_cube = len(array.shape) == 3 and sensor in ("vnir", "swir")
    if not is_cube and len(array.shape) != 2:
        return
    band = f"{sensor}_band"
    dims = ("y", band, "x") if is_cube else ("y", "x")
    near: list[XarrayArray | Coordinate] = [
        copy_coordinate(place, group, ("y", "x"))
        for place in locations
        if place.shape == (array.shape[0], array.shape[-1])
        and _is_of(last_component(place.name), sensor)
    ]
    if is_cube:
        near += _bands(attrs, group, band, array.shape[1])
    yield Cube(array.name, dims, tuple(near))


def _is_of(place: str, sensor: str) -> bool:
    kind, _, of = place.partition("_")
    return kind in ("Latitude", "Longitude") and of.lower() in ("", sensor)


def _bands(attrs: Mapping[str, object], group: str, band: str, n: int) -> Iterator[Coordinate]:
    """Yield coordinates of the axis `band` from attributes of the root with `n` values."""
    sensor = band.partition("_")[0]
    for listed, name in LISTS.items():
        of = sensor.capitalize()
        key = listed.format(of) if "{" in listed else f"{listed}_{of}"
        values = attrs.get(key)
        if isinstance(values, list) and len(values) == n:
            dtype = np.dtype("i2" if name == "flag" else "f4")
            told = mark_repeated(UNITS[name], f"attribute {key}")
            yield Coordinate(f"{group}/{sensor}_{name}", (band,), np.array(values, dtype), told)
