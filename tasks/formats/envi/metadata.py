"""Conversion between ENVI header fields and the coordinates and attributes of a data set.

Wavelengths and similar fields become coordinates of the bands, map info becomes x, y and
`spatial_ref`, the data ignore value becomes `_FillValue`, as xarray users expect. The attribute
"envi" holds all other fields as JSON text, "envi_header" the complete text of the header.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

import numpy as np

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.envi.georeference import (
    MAPPING,
    adapt_map_info,
    georeference_fields,
    make_map_info,
    map_coordinates,
)
from gangsaw.tasks.formats.envi.header import BAND_FIELDS, EnviHeader, standard_name
from gangsaw.tasks.formats.envi.surrounding_bytes import AFTER, BEFORE
from gangsaw.tasks.formats.envi.text import Fields, HeaderText, parse_fields
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.dataset.carried import to_string_array
from gangsaw.tasks.store.dataset.paths import last_component
from gangsaw.tasks.store.dataset.variables import fill_of, json_attrs

LIBRARY_DIMS = ("spectrum", "band")
UNITS_FIELDS = ("wavelength", "fwhm")  # both are in "wavelength units"
ATTRS = {"description": "description", "band names": "band_names"}  # ENVI field: attribute
# last words of coordinate names in data products, such as vnir_wavelength, and their header field
ROLES = {"good wavelengths": "bbl", "flag": "bbl", "wavelength": "wavelength"}
ROLES |= {"wavelengths": "wavelength", "fwhm": "fwhm"}
IGNORED, NAMES = "data ignore value", "spectra names"


def to_metadata(
    header: EnviHeader, around: Iterable[Coordinate] = ()
) -> tuple[tuple[Coordinate, ...], dict[str, object]]:
    """Return the coordinates and array attributes that together hold all fields of a header.

    `around` are coordinates with the bytes before and after the samples, which are appended.
    """
    kept: Fields = dict(header.fields)
    coords = [*_band_coordinates(kept, header.n_bands)]
    if header.is_library:
        coords += _spectra_names(kept, header.shape[1])
    else:
        coords += map_coordinates(kept, _wkt(header.text), header.shape[1:])
    coords += around
    attrs: dict[str, object] = {
        to: kept.pop(of) for of, to in ATTRS.items() if _is_whole(kept.get(of), header.n_bands)
    }
    named = [coord.name for coord in coords if coord.name not in coord.dims]
    if named:
        attrs["coordinates"] = " ".join(named)
    if MAPPING in named:
        attrs["grid_mapping"] = MAPPING
    attrs |= _fill_attrs(kept.get(IGNORED), header.dtype)
    attrs |= {"envi": json.dumps(kept), "envi_header": header.text.text}
    if header.text.encoding != "utf-8":
        attrs["envi_encoding"] = header.text.encoding
    return tuple(coords), attrs


def _is_whole(value: object, n_bands: int) -> bool:
    """Return True if a field can be an attribute: a text, or a list of texts, one per band."""
    return isinstance(value, str) or (isinstance(value, list) and len(value) == n_bands)


def _band_coordinates(fields: Fields, n_bands: int) -> Iterable[Coordinate]:
    """Remove the fields with a number per band from `fields` and yield them as coordinates."""
    units = fields.get("wavelength units")
    for name in BAND_FIELDS:
        values = parse_numbers(fields.get(name), n_bands)
        if values is None:
            continue
        del fields[name]
        attrs = {"units": units} if units and name in UNITS_FIELDS else {}
        yield Coordinate(name.replace(" ", "_"), ("band",), values, attrs)


def _spectra_names(fields: Fields, n_spectra: int) -> Iterator[Coordinate]:
    """Remove the spectra names from `fields` and yield them, if there is one per spectrum."""
    names = fields.get(NAMES)
    if isinstance(names, list) and len(names) == n_spectra:
        del fields[NAMES]
        yield Coordinate(NAMES.replace(" ", "_"), ("spectrum",), to_string_array(np.array(names)))


def parse_numbers(value: object, n: int) -> NumpyArray | None:
    """Return the n numbers of a field, (n,) int64 or float64; None if it must stay text.

    That is a value that is no list of n numbers, or has a number too large for a float64, which
    would be restored as infinite. Numbers are separated by commas or blanks; trailing commas are
    ignored.
    """
    if not _is_text(value):
        return None
    text = value if isinstance(value, str) else ",".join(value)
    texts = re.split(r"\s*,\s*|\s+", text.strip(", \n\t")) if text.strip(" ,") else []
    if len(texts) != n or "_" in text or text.lstrip().startswith(","):
        return None
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        try:
            found = np.array([kind(text) for text in texts], dtype)
        except (ValueError, OverflowError):
            continue
        is_named = ["inf" in text.lower() for text in texts]
        return found if np.array_equal(np.isinf(found), is_named) else None
    return None


def _wkt(text: HeaderText) -> str:
    """Return the header field "coordinate system string" unparsed, to keep blanks after commas."""
    found = [e.raw for e in text.entries if standard_name(e) == "coordinate system string"]
    return found[-1].removeprefix("{").removesuffix("}").replace("\n", "").strip() if found else ""


def _fill_attrs(value: object, dtype: Dtype) -> dict[str, object]:
    """Return the attribute `_FillValue` for xarray's masks, {} if no sample can have the value."""
    found = parse_numbers(value, 1)
    if found is None or dtype.kind not in "iuf":
        return {}
    number: int | float = found[0].item()
    if dtype.kind in "iu":
        limits = np.iinfo(dtype.str)
        is_whole = isinstance(number, int) or number.is_integer()
        if not is_whole or not limits.min <= number <= limits.max:
            return {}
        number = int(number)
    return json_attrs({"_FillValue": number}, dtype)


def header_fields(
    array_attrs: Mapping[str, object], coords: Sequence[Coordinate], band_dim: str | None
) -> Fields:
    """Return the header fields from attributes and coordinates: the inverse of `to_metadata`."""
    kept = json.loads(str(array_attrs.get("envi", "{}")))  # JSON text: NetCDF attributes are flat
    named = {of: array_attrs.get(to) for of, to in ATTRS.items()}
    fields: Fields = {key: value for key, value in {**named, **kept}.items() if _is_text(value)}
    of_bands = band_fields(coords, band_dim)
    for field, coord in of_bands.items():
        fields |= _band_field(field, coord, fields)
    for coord in coords:
        fields |= _coordinate_fields(coord, fields)
    return _of_window(fields, {c.name: c.values for c in coords if c.dims == (c.name,)})


def _of_window(fields: Fields, sides: Mapping[str, NumpyArray]) -> Fields:
    """Return the fields with map info for the pixels with centres `sides`.

    These may be a window that xarray has cut from the image.
    """
    info = fields.get("map info")
    if not {"x", "y"} <= sides.keys():
        return fields
    if info is None and (made := make_map_info(sides["x"], sides["y"])) is not None:
        return {**fields, "map info": made}
    if not isinstance(info, list):
        return fields
    found = adapt_map_info(info, sides["x"], sides["y"])
    return {k: v for k, v in {**fields, "map info": found}.items() if v is not None}


def band_fields(coords: Sequence[Coordinate], band_dim: str | None) -> dict[str, Coordinate]:
    """Return the band coordinate that provides each header field, by field name.

    A coordinate with exactly the name of the field is preferred.
    """
    found: dict[str, Coordinate] = {}
    of_bands = [c for c in coords if c.dims == (band_dim,) and c.values.dtype.kind in "biuf"]
    for coord in sorted(of_bands, key=lambda coord: _words(coord.name) not in BAND_FIELDS):
        if field := _role(_words(coord.name)):
            found.setdefault(field, coord)
    return found


def _words(name: str) -> str:
    return last_component(name).replace("_", " ").lower()


def _role(words: str) -> str:
    if words in BAND_FIELDS:
        return words
    return next((to for end, to in ROLES.items() if f" {words}".endswith(f" {end}")), "")


def _band_field(field: str, coord: Coordinate, fields: Fields) -> Fields:
    found: Fields = {field: [repr(value) for value in coord.values.tolist()]}
    if field in UNITS_FIELDS and "units" in coord.attrs and "wavelength units" not in fields:
        found["wavelength units"] = str(coord.attrs["units"])
    return found


def _coordinate_fields(coord: Coordinate, fields: Fields) -> Fields:
    name = coord.name.replace("_", " ")
    found: Fields = {}
    if name == NAMES and coord.dims == LIBRARY_DIMS[:1]:
        found[name] = [str(value) for value in coord.values.tolist()]
    elif coord.is_mapping and not fields.keys() & {"map info", "coordinate system string"}:
        found |= georeference_fields(coord.attrs)
    return found


def check_names(fields: Fields, header: HeaderText | None) -> None:
    """Raise BadParams for a name with a separator of header lists, which would split it.

    A list that is unchanged from the header of the source is not checked.
    """
    had = {standard_name(entry): entry.value for entry in header.entries} if header else {}
    for field in (NAMES, "band names"):
        value = fields.get(field, [])
        if value == had.get(field):
            continue
        for name in value if isinstance(value, list) else []:
            if re.search(r"[,{}\r\n]", name):
                raise BadParams(
                    f"ENVI's {field} are a list with commas, in which {name!r} cannot be: rename it"
                )


def fill_fields(array_attrs: Mapping[str, object], dtype: Dtype) -> Fields:
    """Return the field "data ignore value" made from the fill value attributes, or {}."""
    fill = fill_of(array_attrs, dtype)
    is_number = isinstance(fill, int | float) and not isinstance(fill, bool)
    return {IGNORED: repr(fill)} if is_number else {}


def can_store(coord: Coordinate, fields: Fields) -> bool:
    """Return True if the ENVI header or data file can hold a coordinate that is no band field."""
    held = _coordinate_fields(coord, {})
    has_map = "map info" in fields and coord.name in ("x", "y")
    return bool(held) or has_map or coord.name in (BEFORE, AFTER)


def get_header_text(array_attrs: Mapping[str, object]) -> HeaderText | None:
    """Return the header text of the source, stored in the attributes, or None."""
    text, encoding = array_attrs.get("envi_header"), array_attrs.get("envi_encoding", "utf-8")
    if not isinstance(text, str) or encoding not in ("utf-8", "latin-1"):
        return None
    return HeaderText(text, str(encoding), tuple(parse_fields(text, "the attribute envi_header")))


def _is_text(value: object) -> TypeGuard[str | list[str]]:
    texts = value if isinstance(value, list) else [value]
    return all(isinstance(text, str) for text in texts)
