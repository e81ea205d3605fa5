"""Metadata of a GeoTIFF image and its bands, and their attributes in a store.

Names, units, scales and nodata are attributes as rioxarray defines them. The attribute "geotiff"
holds these and all other metadata unchanged, as JSON text because NetCDF attributes are flat.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypedDict, TypeVar, cast

import numpy as np

from gangsaw.tasks.formats.geotiff.bands import LIST
from gangsaw.tasks.formats.geotiff.grid import GRID
from gangsaw.tasks.formats.geotiff.opening import open_image
from gangsaw.tasks.sources.source import Coordinate

if TYPE_CHECKING:
    from rasterio.io import DatasetReader

ATTR = "geotiff"
PIXELS = ("AREA_OR_POINT", "Area")  # tag that GDAL gives every image with a CRS
# domains that GDAL derives from the file, or that are stored in another way
DERIVED = {"IMAGE_STRUCTURE", "DERIVED_SUBDATASETS", "SUBDATASETS", "rio_overview"}
# attributes by which xarray decodes samples: a tag with such a name goes into "geotiff" only
DECODED = {"_FillValue", "missing_value", "scale_factor", "add_offset", "dtype", "_Unsigned"}
DECODED |= {"units", "calendar", "coordinates", "grid_mapping", "bounds", "cell_methods", ATTR}

Value = TypeVar("Value")
Tags = dict[str, dict[str, str]]  # tags by domain; "" is the default domain


class ImageMetadata(TypedDict, total=False):
    """Contents of the attribute "geotiff"; the lists of band metadata have an entry per band.

    `nodata` is a number as text, since JSON has no NaN; `gcps` are row, column, x, y, z, id, info.
    `n_bits` is the size of a sample in the file, 0 if it is that of the dtype.
    """

    nodata: str
    band_names: list[str | None]
    scales: list[float]
    offsets: list[float]
    units: list[str | None]
    color_interpretation: list[str]
    tags: Tags
    band_tags: list[Tags]
    gcps: list[list[float | str | None]]
    gcps_crs: str
    overviews: list[int]
    resampling: str
    n_bits: int


def read_metadata(image: DatasetReader) -> ImageMetadata:
    """Return all metadata of an image and its bands except the grid."""
    numbers = range(1, image.count + 1)
    points, crs = image.gcps
    found = ImageMetadata(
        band_names=list(image.descriptions),
        scales=list(image.scales),
        offsets=list(image.offsets),
        units=list(image.units),
        color_interpretation=[colour.name for colour in image.colorinterp],
        tags=_tags(image, 0),
        band_tags=[_tags(image, number) for number in numbers],
        gcps=[[p.row, p.col, p.x, p.y, p.z, p.id, p.info] for p in points],
        gcps_crs=crs.to_wkt() if points and crs else "",
        overviews=image.overviews(1),
        resampling=_resampling(image),
        n_bits=int(image.tags(1, ns="IMAGE_STRUCTURE").get("NBITS", 0)),
    )
    if image.nodata is not None:
        found["nodata"] = repr(image.nodata)
    return found


def _resampling(image: DatasetReader) -> str:
    """Return the resampling method of the first overview, "" if unknown."""
    if not image.overviews(1):
        return ""
    with open_image(image.name, OVERVIEW_LEVEL=0) as overview:
        return str(overview.tags(1).get("RESAMPLING", ""))


def _tags(image: DatasetReader, number: int) -> Tags:
    """Return the tags of a band, or of the image if the number is 0."""
    domains = {"", *image.tag_namespaces(number)} - DERIVED
    return {name: tags for name in sorted(domains) if (tags := _domain(image, number, name))}


def _domain(image: DatasetReader, number: int, name: str) -> dict[str, str]:
    tags: dict[str, str] = dict(image.tags(number, ns=name or None))
    tags.pop(LIST, None)  # an export writes it again for the current coordinates
    if tags.get(PIXELS[0]) == PIXELS[1]:
        del tags[PIXELS[0]]
    return tags


def collect_image_attributes(
    image: DatasetReader, coords: Iterable[Coordinate]
) -> dict[str, object]:
    """Return the attributes of the array: rioxarray's attributes, and "geotiff"."""
    metadata = read_metadata(image)
    linked = [coord.name for coord in coords if coord.name not in coord.dims]
    usual = metadata["tags"].get("", {})
    plain = {name: value for name, value in usual.items() if name not in DECODED}
    return {
        **plain,
        **_one_or_all("long_name", metadata["band_names"]),
        **_band_names(metadata["band_names"]),
        **_one_or_all("units", metadata["units"]),
        **_scale(metadata["scales"], metadata["offsets"]),
        **_nodata(image),
        "coordinates": " ".join(linked),
        "grid_mapping": GRID,
        **({ATTR: json.dumps(changed)} if (changed := _select_changed(metadata)) else {}),
    }


def _select_changed(metadata: ImageMetadata) -> dict[str, object]:
    """Return the metadata that differ from their defaults."""
    usual = repair_metadata("{}", len(metadata["scales"]))
    return {key: value for key, value in metadata.items() if value != usual.get(key)}


def _one_or_all(name: str, values: list[str | None]) -> dict[str, object]:
    if not any(values):
        return {}
    texts = [value or "" for value in values]
    return {name: texts[0] if len(set(texts)) == 1 else texts}


def _band_names(names: list[str | None]) -> dict[str, object]:
    """Return the attribute "band_names", which ENVI sources have too; {} for a single band."""
    return {"band_names": [name or "" for name in names]} if any(names) and names[1:] else {}


def _scale(scales: list[float], offsets: list[float]) -> dict[str, object]:
    """Return CF scale attributes if all bands share them, else lists, which xarray ignores."""
    if set(scales) == {1.0} and set(offsets) == {0.0}:
        return {}  # with these attributes xarray would convert the samples to floats
    if len(set(scales)) == len(set(offsets)) == 1:
        return {"scale_factor": scales[0], "add_offset": offsets[0]}
    return {"scales": scales, "offsets": offsets}


def _nodata(image: DatasetReader) -> dict[str, object]:
    """Return nodata as attribute `_FillValue` if a sample can have that value, else "nodata"."""
    value, dtype = image.nodata, image.dtypes[0]
    if value is None or "complex" in dtype:
        return {}
    if dtype.startswith("float"):
        return {"_FillValue": float(value)}
    if not math.isfinite(value) or value != int(value):
        return {}
    limits = np.iinfo(dtype)
    is_sample = limits.min <= int(value) <= limits.max
    return {"_FillValue" if is_sample else "nodata": int(value)}


def repair_metadata(text: str, n_bands: int) -> ImageMetadata:
    """Return the metadata in the text of "geotiff"; lists of another length become defaults.

    Bands may have been removed from the array since, or the text may have been edited.
    """
    found = _parsed(text)
    no_tags: Tags = {}
    tags: Tags = found.get("tags", {})
    metadata: ImageMetadata = {
        "band_names": _each(found, "band_names", n_bands, None),
        "scales": _each(found, "scales", n_bands, 1.0),
        "offsets": _each(found, "offsets", n_bands, 0.0),
        "units": _each(found, "units", n_bands, None),
        "color_interpretation": _each(found, "color_interpretation", n_bands, ""),
        "tags": dict(tags),
        "band_tags": [dict(own) for own in _each(found, "band_tags", n_bands, no_tags)],
        "gcps": found.get("gcps", []),
        "gcps_crs": found.get("gcps_crs", ""),
        "overviews": found.get("overviews", []),
        "resampling": found.get("resampling", ""),
        "n_bits": found.get("n_bits", 0),
    }
    if not all(metadata["color_interpretation"]):
        metadata["color_interpretation"] = ["gray", *["undefined"] * (n_bands - 1)]
    if "nodata" in found:
        metadata["nodata"] = found["nodata"]
    return metadata


def _parsed(text: str) -> ImageMetadata:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return cast("ImageMetadata", found) if isinstance(found, dict) else {}


def _each(found: ImageMetadata, key: str, n_bands: int, default: Value) -> list[Value]:
    values: object = found.get(key)
    is_fit = isinstance(values, list) and len(values) == n_bands
    return cast("list[Value]", values) if is_fit else [default] * n_bands


def nodata_of(metadata: ImageMetadata) -> float | None:
    """Return nodata as a number for rasterio, or None."""
    text = metadata.get("nodata")
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return float(text)
