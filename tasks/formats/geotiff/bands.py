"""Coordinates of the bands, such as wavelengths, stored in a GeoTIFF as tags of each band."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.contract.losses import is_numbering
from gangsaw.tasks.sources.source import Coordinate

if TYPE_CHECKING:
    from rasterio.io import DatasetReader

# image tag that lists the band tags that are coordinates; GDAL would not copy a tag domain of its
# own into a cloud-optimised file
LIST = "GANGSAW_BAND_COORDINATES"
TEXT = "str"  # dtype name of texts of variable length
NUMBERED = ("wavelength", "fwhm")  # band tags that GDAL writes for ENVI images
UNITS = "wavelength_units"


class BandFacts(TypedDict):
    """Metadata of a band coordinate: the NumPy name of its dtype, and its attributes."""

    dtype: str
    attrs: dict[str, object]


def band_coordinates(image: DatasetReader) -> tuple[Coordinate, ...]:
    """Return the coordinates from tags that all bands have: exported ones, and ENVI wavelengths."""
    tags = [image.tags(number) for number in range(1, image.count + 1)]
    facts = _default_facts(tags[0]) | _read_facts(image)
    found = (_coordinate(name, [of.get(name) for of in tags], facts[name]) for name in facts)
    return tuple(coord for coord in found if coord is not None)


def _default_facts(tags: Mapping[str, str]) -> dict[str, BandFacts]:
    """Return the default facts of wavelength coordinates, for images that do not list them."""
    units = {"units": tags[UNITS]} if UNITS in tags else {}
    return {name: {"dtype": "float64", "attrs": dict(units)} for name in NUMBERED}


def _read_facts(image: DatasetReader) -> dict[str, BandFacts]:
    try:
        found = json.loads(image.tags().get(LIST, "{}"))
        return {
            str(name): {"dtype": str(facts["dtype"]), "attrs": dict(facts["attrs"])}
            for name, facts in found.items()
        }
    except (ValueError, TypeError, KeyError, AttributeError):  # edited by hand
        return {}


def _coordinate(name: str, texts: Sequence[str | None], facts: BandFacts) -> Coordinate | None:
    """Return a coordinate, None if a band lacks the tag or its value does not parse."""
    values = [text for text in texts if text is not None]
    if len(values) < len(texts):
        return None
    try:
        return Coordinate(name, ("band",), _values(values, facts["dtype"]), facts["attrs"])
    except (ValueError, OverflowError, TypeError):
        return None


def _values(texts: Sequence[str], dtype: str) -> NumpyArray:
    if dtype == TEXT:
        return np.array(texts, np.dtypes.StringDType())
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        return np.array([int(text) for text in texts], kind)
    if kind.kind != "f":
        raise ValueError(dtype)
    return np.array([float(text) for text in texts], kind)


def is_of_bands(coord: Coordinate, band: str | None) -> bool:
    """Return True if band tags can hold a coordinate bit for bit."""
    return coord.dims == (band,) and coord.values.dtype.kind in "iufT"


def write_tags(
    coords: Iterable[Coordinate], band: str | None, tags: Sequence[dict[str, str]]
) -> None:
    """Add each band coordinate except plain band numbers to the tags of the bands.

    An existing tag with an equal value keeps its text: "400" does not become "400.0".
    """
    for coord in coords:
        if is_of_bands(coord, band) and not is_numbering(coord):
            for own, value in zip(tags, coord.values.tolist(), strict=True):
                if not _represents(own.get(coord.name), value, _dtype_name(coord)):
                    own[coord.name] = _text(value)


def _represents(text: str | None, value: object, dtype: str) -> bool:
    try:
        return text is not None and _text(_values([text], dtype).tolist()[0]) == _text(value)
    except (ValueError, OverflowError, TypeError):
        return False


def list_tag(
    coords: Iterable[Coordinate], band: str | None, tags: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the image tag that lists the band coordinates, {} if none must be listed.

    Coordinates with the default metadata that `tags` of the first band imply are left out.
    """
    usual = _default_facts(tags)
    facts = {
        coord.name: BandFacts(dtype=_dtype_name(coord), attrs=dict(coord.attrs))
        for coord in coords
        if is_of_bands(coord, band) and not is_numbering(coord)
    }
    listed = {name: of for name, of in facts.items() if usual.get(name) != of}
    return {LIST: json.dumps(listed)} if listed else {}


def _dtype_name(coord: Coordinate) -> str:
    return TEXT if coord.values.dtype.kind == "T" else coord.values.dtype.name


def _text(value: object) -> str:
    return value if isinstance(value, str) else repr(value)
