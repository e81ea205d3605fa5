"""Georeference of an ENVI image: conversion of map info and coordinate system for xarray users.

A scalar coordinate `spatial_ref` has the attributes of CF and GDAL: crs_wkt and GeoTransform.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from math import cos, radians, sin

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.envi.text import Fields
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.dataset.variables import SMALL

MAPPING = "spatial_ref"
MOST_NUMBER = 1e100  # limit of numbers in map info, whose products stay finite; NaN fails too
Transform = tuple[float, float, float, float, float, float]
WGS84 = 'DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]]'
NAD83 = 'DATUM["North_American_Datum_1983",SPHEROID["GRS 1980",6378137,298.257222101]]'
# datums of map info: name, WKT, EPSG code of the geographic system, and the EPSG codes to which
# the UTM zone number is added in the north and in the south (0 for none)
DATUMS = {
    "WGS-84": ("WGS 84", WGS84, 4326, 32600, 32700),
    "North America 1983": ("NAD83", NAD83, 4269, 26900, 0),
}
DEGREE = 'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]'


def map_coordinates(fields: Fields, wkt: str, shape: tuple[int, int]) -> Iterator[Coordinate]:
    """Yield the pixel centres y and x of an image of (rows, columns), and `spatial_ref`.

    y and x are left out if the map is rotated, or if they would be large: the transform defines
    them.
    """
    info = fields.get("map info")
    parts = info if isinstance(info, list) else []
    transform = geo_transform(parts)
    if transform is not None and not any(transform[i] for i in (2, 4)):
        attrs = {"units": units} if (units := _units(parts)) else {}
        for name, n, start, step in (
            ("y", shape[0], transform[3], transform[5]),
            ("x", shape[1], transform[0], transform[1]),
        ):
            if max(shape) * np.dtype("f8").itemsize <= SMALL:
                yield Coordinate(name, (name,), _centres(n, start, step), attrs)
    yield from _mapping(transform, wkt or (_known_wkt(parts) if transform else ""))


def _centres(n: int, start: float, step: float) -> NumpyArray:
    return np.asarray(start + (np.arange(n) + 0.5) * step)


def _mapping(transform: Transform | None, wkt: str) -> Iterator[Coordinate]:
    said = wkt if wkt and _is_readable(wkt) else ""
    attrs: dict[str, object] = {"crs_wkt": said, "spatial_ref": said} if said else {}
    if transform is not None:
        attrs["GeoTransform"] = " ".join(map(repr, transform))
    if attrs:
        yield Coordinate(MAPPING, (), np.array(0, np.int64), attrs)


def _is_readable(wkt: str) -> bool:
    """Return True if GDAL or PROJ parses a WKT text; rioxarray raises for any other.

    True if neither rasterio nor pyproj is installed.
    """
    for module in ("rasterio.crs", "pyproj"):
        if find_spec(module.partition(".")[0]) is None:
            continue
        try:
            import_module(module).CRS.from_wkt(wkt)
        except Exception:  # each library raises its own types
            return False
        return True
    return True


def geo_transform(info: list[str]) -> Transform | None:
    """Return the GDAL transform of map info, or None if it defines none.

    Coordinates of the reference pixel count from 1 at the outer corner of the upper left pixel. The
    centre of a rotation is defined only if the reference pixel is that corner.
    """
    try:
        column, row, x, y, dx, dy = (float(part) for part in info[1:7])
        angle = next((float(value) for key, value in _options(info) if key == "rotation"), 0.0)
    except ValueError:
        return None
    if not all(abs(number) < MOST_NUMBER for number in (column, row, x, y, dx, dy, angle)):
        return None
    if angle == 0:
        return (x - (column - 1) * dx, dx, 0.0, y + (row - 1) * dy, 0.0, -dy)
    if (column, row) != (1, 1):
        return None
    along, across = cos(radians(-angle)), sin(radians(-angle))
    return (x, along * dx, -across * dx, y, -across * dy, -along * dy)


def _options(info: list[str]) -> Iterator[tuple[str, str]]:
    for part in info[7:]:
        key, sign, value = part.partition("=")
        if sign:
            yield key.strip().lower(), value.strip()


def _units(info: list[str]) -> str:
    """Return the units of x and y, "" if unknown: an arbitrary map has none."""
    named = [value for key, value in _options(info) if key == "units"]
    kind = info[0].lower()
    if named:
        return named[0].lower()
    if "geographic" in kind:
        return "degrees"
    return "metres" if kind == "utm" else ""


def _known_wkt(info: list[str]) -> str:
    """Return the coordinate system of map info as WKT, "" unless it is UTM or geographic."""
    kind, datum = info[0].lower(), next((d for d in DATUMS if d in info), "")
    if not datum:
        return ""
    name, wkt, code, *codes = DATUMS[datum]
    geographic = f'GEOGCS["{name}",{wkt},{DEGREE},{_authority(code)}]'
    if kind.startswith("geographic"):
        return geographic
    zone = info[7] if len(info) > 8 else ""
    hemisphere = info[8].lower() if len(info) > 8 else ""
    if kind != "utm" or not re.fullmatch(r"[1-9]|[1-5]\d|60", zone):
        return ""
    if hemisphere not in ("north", "south"):
        return ""
    code = codes[hemisphere == "south"]
    wkt = _utm(name, geographic, int(zone), is_south=hemisphere == "south")
    return f"{wkt},{_authority(code + int(zone))}]" if code else f"{wkt}]"


def _authority(code: int) -> str:
    return f'AUTHORITY["EPSG","{code}"]'


def _utm(name: str, geographic: str, zone: int, *, is_south: bool) -> str:
    """Return the WKT of a UTM zone without its closing bracket, so that an authority can follow."""
    values: Mapping[str, float] = {
        "latitude_of_origin": 0,
        "central_meridian": zone * 6 - 183,
        "scale_factor": 0.9996,
        "false_easting": 500000,
        "false_northing": 10000000 if is_south else 0,
    }
    parameters = ",".join(f'PARAMETER["{key}",{value}]' for key, value in values.items())
    return (
        f'PROJCS["{name} / UTM zone {zone}{"S" if is_south else "N"}",{geographic},'
        f'PROJECTION["Transverse_Mercator"],{parameters},UNIT["metre",1]'
    )


def georeference_fields(attrs: Mapping[str, object]) -> Fields:
    """Return the map info and coordinate system fields from the attributes of a `spatial_ref`."""
    fields: Fields = {}
    wkt = attrs.get("crs_wkt") or attrs.get("spatial_ref")
    try:
        x, dx, ry, y, rx, dy = (float(part) for part in str(attrs.get("GeoTransform")).split())
    except ValueError:
        pass
    else:
        if ry == rx == 0 and dy < 0:
            kind = "Geographic Lat/Lon" if str(wkt).startswith("GEOG") else "Arbitrary"
            fields["map info"] = [kind, "1", "1", *map(repr, (x, y, dx, -dy))]
    if isinstance(wkt, str) and wkt:
        fields["coordinate system string"] = f"{{{wkt}}}"
    return fields


def make_map_info(x: NumpyArray, y: NumpyArray) -> list[str] | None:
    """Return the ENVI field "map info" of an arbitrary map for pixels with these centres.

    None if the centres are not equally spaced, or if y rises.
    """
    if x.dtype.kind not in "iuf" or y.dtype.kind not in "iuf" or min(x.size, y.size) < 2:
        return None
    (left, dx), (top, dy) = _line(x, np.nan), _line(y, np.nan)
    return ["Arbitrary", "1", "1", *map(repr, (left, top, dx, -dy))] if dx > 0 > dy else None


def adapt_map_info(info: list[str], x: NumpyArray, y: NumpyArray) -> list[str] | None:
    """Return the ENVI field "map info" adapted to pixels with these centres, such as a window.

    None if map info cannot describe them: they are not equally spaced, or y rises.
    """
    transform = geo_transform(info)
    if transform is None or transform[2] or transform[4]:
        return info
    sides = ((x, transform[0], transform[1]), (y, transform[3], transform[5]))
    if all(np.array_equal(side, _centres(side.size, *line)) for side, *line in sides):
        return info  # unchanged, whatever its form
    (left, dx), (top, dy) = _line(x, transform[1]), _line(y, transform[5])
    if not (dx > 0 > dy):
        return None
    had = np.array([transform[i] for i in (0, 1, 3, 5)])
    rounding = 4 * np.spacing(max(abs(left), abs(top)))
    allowed = 1e-6 * np.abs([dx, dx, dy, dy]) + rounding
    if np.all(np.abs(had - [left, dx, top, dy]) <= allowed):
        return info
    return [info[0], "1", "1", *map(repr, (left, top, dx, -dy)), *info[7:]]


def _line(centres: NumpyArray, step: float) -> tuple[float, float]:
    """Return the outer edge of the first pixel along an axis, and the pixel size.

    The size is NaN if the centres are not equally spaced; `step` is the size of a single pixel.
    """
    steps = np.diff(centres.astype(np.float64))
    if steps.size:
        step = float(steps.mean())
        if np.any(np.abs(steps - step) > 1e-3 * abs(step)):
            return np.nan, np.nan
    return float(centres[0]) - step / 2, step
