"""ENVI images: a text header and a flat data file.

Header fields become what xarray users expect (wavelengths and the like are coordinates of the
bands, map info gives x and y) and all of them come back in `header_fields` on export. The attribute
"envi" holds all other fields unchanged, as JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeGuard

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.flat import FlatArray, check_size, file_identity
from gangsaw.tasks.formats.known.envi.header import (
    BAND_FIELDS,
    EnviHeader,
    Fields,
    find_data,
    read_header,
)
from gangsaw.tasks.formats.layouts import INTERLEAVES
from gangsaw.tasks.source import Coordinate
from gangsaw.tasks.store.stamps import file_stamps
from gangsaw.tasks.store.variables import SMALL

UNITS_FIELDS = ("wavelength", "fwhm")  # both are in "wavelength units"
MOST_NUMBER = 1e100  # of map info: products of two stay finite; NaN is not below it
ATTRS = {"description": "description", "band names": "band_names"}  # ENVI field: attribute


@dataclass(frozen=True)
class EnviSource:
    """One ENVI image: an array in the file's own dimension order, and its coordinates."""

    name: str
    header_path: str
    arrays: tuple[FlatArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)

    def identity(self) -> str:
        """Path, bytes and modification time of header and data."""
        return file_identity(self.header_path, self.arrays[0].path)

    def stamps(self) -> Mapping[str, str]:
        """What changes with header and data."""
        return file_stamps(self.header_path, self.arrays[0].path)


def open_envi(path: str) -> EnviSource:
    """Describe an ENVI image by its header file.

    Raises BadParams for a header that is missing or malformed, has no data file, or describes
    more samples than the data file holds.
    """
    header_path = Path(path).absolute()
    header = read_header(header_path)
    dims = INTERLEAVES[header.interleave]
    extents = dict(zip(("band", "y", "x"), header.shape, strict=True))
    shape = tuple(extents[d] for d in dims)
    array = FlatArray(
        str(find_data(header_path)), shape, header.dtype.str, dims, offset=header.offset
    )
    check_size(array)  # before anything of the size in the header is allocated
    coords, attrs = to_metadata(header)
    return EnviSource(path, str(header_path), (replace(array, attrs=attrs),), coords)


def to_metadata(header: EnviHeader) -> tuple[tuple[Coordinate, ...], dict[str, object]]:
    """Return the coordinates and the array's attributes that hold all of a header's fields."""
    kept: Fields = dict(header.fields)
    coords = [*_band_coordinates(kept, header.shape[0]), *_map_coordinates(kept, header.shape)]
    attrs: dict[str, object] = {to: kept.pop(of) for of, to in ATTRS.items() if of in kept}
    if any(coord.name not in coord.dims for coord in coords):
        attrs["coordinates"] = " ".join(c.name for c in coords if c.name not in c.dims)
    return tuple(coords), {**attrs, "envi": json.dumps(kept)}


def _band_coordinates(fields: Fields, n_bands: int) -> Iterable[Coordinate]:
    """Take the fields with a number per band out of `fields`."""
    units = fields.get("wavelength units")
    for name in BAND_FIELDS:
        values = _numbers(fields.get(name), n_bands)
        if values is None:
            continue
        del fields[name]
        attrs = {"units": units} if units and name in UNITS_FIELDS else {}
        yield Coordinate(name.replace(" ", "_"), ("band",), values, attrs)


def _numbers(value: object, n: int) -> NumpyArray | None:
    """(n,) int64 or float64, or None where `value` is no list of n numbers: it stays text. So do
    numbers too large for a float64, which would come back as infinite.
    """
    if not isinstance(value, list) or len(value) != n:
        return None
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        try:
            numbers = np.array([kind(text) for text in value], dtype)
        except (ValueError, OverflowError):
            continue
        is_named = ["inf" in text.lower() for text in value]
        return numbers if np.array_equal(np.isinf(numbers), is_named) else None
    return None


def _map_coordinates(fields: Fields, shape: tuple[int, int, int]) -> Iterable[Coordinate]:
    """Centres of the pixels from map info; none where the map is rotated or arbitrary.

    None either where they would be large: the field map info, which gives them, stays.
    """
    info = fields.get("map info")
    if not isinstance(info, list) or len(info) < 7 or any("rotation" in part for part in info):
        return
    try:
        column, row, x, y, dx, dy = (float(part) for part in info[1:7])
    except ValueError:
        return
    are_finite = all(abs(number) < MOST_NUMBER for number in (column, row, x, y, dx, dy))
    if not are_finite or max(shape[1:]) * np.dtype("f8").itemsize > SMALL:
        return
    # the reference pixel counts from 1 at the outer corner of the upper left pixel
    attrs = {"units": _map_units(info)}
    xs = x + (np.arange(shape[2]) + 1.5 - column) * dx
    ys = y - (np.arange(shape[1]) + 1.5 - row) * dy
    yield Coordinate("y", ("y",), ys, attrs)
    yield Coordinate("x", ("x",), xs, attrs)


def _map_units(info: list[str]) -> str:
    named = [part.partition("=")[2] for part in info if part.lower().startswith("units=")]
    if named:
        return named[0].lower()
    return "degrees" if "geographic" in info[0].lower() else "metres"


def header_fields(
    array_attrs: Mapping[str, object], coords: Iterable[Coordinate], band_dim: str | None
) -> Fields:
    """Return the header fields that attributes and coordinates hold: `to_metadata` backwards."""
    kept = json.loads(str(array_attrs.get("envi", "{}")))  # text: NetCDF attributes are flat
    named = {of: array_attrs.get(to) for of, to in ATTRS.items()}
    fields: Fields = {key: value for key, value in {**named, **kept}.items() if _is_text(value)}
    for coord in coords:
        name = coord.name.replace("_", " ")
        if name in BAND_FIELDS and coord.dims == (band_dim,):
            fields[name] = [repr(value) for value in coord.values.tolist()]
            if name in UNITS_FIELDS and "units" in coord.attrs:
                fields.setdefault("wavelength units", str(coord.attrs["units"]))
    return fields


def _is_text(value: object) -> TypeGuard[str | list[str]]:
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(text, str) for text in texts)
