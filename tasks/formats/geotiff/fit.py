"""Check of a data set against GeoTIFF: obstacles, and losses found by a trial file in memory."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import rasterio
from rasterio.errors import RasterioError
from rasterio.io import MemoryFile

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.axes import image_dims
from gangsaw.tasks.formats.contract.format import Fit, catch_refusal
from gangsaw.tasks.formats.contract.losses import lost_groups
from gangsaw.tasks.formats.geotiff.bands import is_of_bands
from gangsaw.tasks.formats.geotiff.export import configure_writing, create
from gangsaw.tasks.formats.geotiff.grid import grid_mapping
from gangsaw.tasks.formats.geotiff.header import (
    TiffHeader,
    header_of,
    image_array,
    mask_array,
    select_geotiff_image,
)
from gangsaw.tasks.formats.geotiff.palette import PALETTE, Colours, palette_coordinates, palette_of
from gangsaw.tasks.formats.geotiff.tags import ImageMetadata, nodata_of, read_metadata
from gangsaw.tasks.sources.source import Coordinate, Source

MOST_BANDS = 65535  # TIFF counts bands in 16 bits
NUMBERS = "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float32 float64 complex64 complex128"
COPIED = ("", "RPC")  # domains of image tags that GDAL copies into a COG, besides XML ones
TRIAL = (16, 16)  # rows and columns of the trial image


def judge_geotiff_fit(source: Source) -> Fit:
    """Return the verdict on a source: the reason of a refusal, else the lost items."""
    if refusal := catch_refusal(lambda: check_geotiff_image(select_geotiff_image(source))):
        return Fit(refusal)
    source = select_geotiff_image(source)
    header = header_of(source)
    lost = (*_lost_names(source), *_lost_coordinates(source, header), *lost_groups(source))
    return Fit(lost=(*lost, *_lost_in_trial(header)), told=tuple(_describe_changes(header)))


def _describe_changes(header: TiffHeader) -> Iterator[str]:
    """Yield a description of each item that changes its form: bits per sample, palette size."""
    bits, n_colours = 8 * header.dtype.itemsize, len(header.palette)
    if header.metadata["n_bits"]:
        yield f"samples of {header.metadata['n_bits']} bits, which become {bits}"
    if 0 < n_colours < 1 << bits:
        yield f"the palette of {n_colours} colours, which gets {1 << bits}"


def lost_of_cog(source: Source) -> tuple[str, ...]:
    """Return descriptions of the tags that GDAL does not copy into a cloud-optimised file."""
    tags = header_of(select_geotiff_image(source)).metadata["tags"]
    others = [d for d in tags if d not in COPIED and not d.startswith("xml:")]
    return tuple(f"tag {_full(domain, name)}" for domain in others for name in tags[domain])


def _is_supported(dtype: Dtype) -> bool:
    """Return True if GeoTIFF supports a dtype; float16 needs GDAL 3.11."""
    from rasterio.dtypes import check_dtype

    return dtype.name in NUMBERS.split() or (dtype.name == "float16" and check_dtype(dtype.name))


def check_geotiff_image(source: Source) -> None:
    """Raise BadParams unless the source is one image of a dtype that GeoTIFF supports."""
    array, mask = image_array(source), mask_array(source)
    band, y, x = image_dims(array)
    if not _is_supported(array.dtype):
        raise BadParams(f"GeoTIFF has no {array.dtype.name} samples; decompress to Zarr")
    extent = dict(zip(array.dims, array.shape, strict=True))
    if 0 in array.shape:
        raise BadParams(f"{array.name} has no samples, GeoTIFF needs one; decompress to Zarr")
    if band is not None and extent[band] > MOST_BANDS:
        raise BadParams(f"GeoTIFF has at most {MOST_BANDS} bands, {array.name} {extent[band]}")
    if mask is not None and mask.shape != (extent[y], extent[x]):
        raise BadParams(f"{mask.name} has shape {mask.shape}, the image {extent[y], extent[x]}")


def _lost_names(source: Source) -> Iterator[str]:
    array = image_array(source)
    band, y, x = image_dims(array)
    if (band or "band", y, x) != ("band", "y", "x"):
        yield f"names of the axes {', '.join(array.dims)}"
    both = source.attrs.keys() & array.attrs.keys()
    yield from (f"attribute {k} of the group" for k in sorted(both) if _differ(source, k))


def _differ(source: Source, key: str) -> bool:
    return source.attrs[key] != image_array(source).attrs[key]


def _lost_coordinates(source: Source, header: TiffHeader) -> Iterator[str]:
    array = image_array(source)
    band, y, x = image_dims(array)
    extent = dict(zip(array.dims, array.shape, strict=True))
    centres = _centres(header, (extent[y], extent[x]))
    mapping = grid_mapping(source.coords, array.attrs)
    for coord in source.coords:
        is_centre = coord.name in (y, x) and _equal(coord, centres.get(coord.name == x))
        is_held = coord is mapping or is_of_bands(coord, band) or coord.name == PALETTE
        if not (is_centre or is_held):
            yield f"coordinate {coord.name}"
    palette = [coord for coord in source.coords if coord.name == PALETTE]
    if palette and array.dtype.name not in ("uint8", "uint16"):
        yield f"coordinate {PALETTE}"


def _centres(header: TiffHeader, sides: tuple[int, int]) -> dict[bool, NumpyArray]:
    """Return the pixel centres of the transform: x at key True, y at False; {} if rotated."""
    place = header.transform or rasterio.Affine.identity()
    if not place.is_rectilinear:
        return {}
    ys, xs = (np.arange(n) + 0.5 for n in sides)
    return {False: place.f + place.e * ys, True: place.c + place.a * xs}


def _equal(coord: Coordinate, centres: NumpyArray | None) -> bool:
    if (
        centres is None
        or coord.values.shape != centres.shape
        or coord.values.dtype.kind not in "iuf"
    ):
        return False
    return bool(np.allclose(coord.values, centres, rtol=1e-9, atol=1e-9))


def _lost_in_trial(header: TiffHeader) -> Iterator[str]:
    """Write the header to a small trial image; yield the name of each item that changes."""
    try:
        with configure_writing(), MemoryFile(ext=".tif") as file:
            create(header, file.name, TRIAL, TRIAL[0])
            with file.open() as image:
                yield from _differences(header, image)
    except (RasterioError, ValueError, OverflowError, TypeError) as error:
        yield f"tags of the image ({error})"


def _differences(header: TiffHeader, image: rasterio.DatasetReader) -> Iterator[str]:
    kept = read_metadata(image)
    found, wanted = _comparable(kept), _comparable(header.metadata)
    yield from (name for name in wanted if wanted[name] != found[name])
    tags = _tags(kept)
    yield from (name for name, value in _tags(header.metadata).items() if tags.get(name) != value)
    colours = _palette(image)  # 256 or 65536 entries; a source with fewer bits has fewer
    if any(colours.get(value) != colour for value, colour in header.palette.items()):
        yield "palette"
    if header.metadata["gcps"]:
        return
    if header.crs is not None and image.crs != header.crs:
        yield "CRS"
    if header.transform is not None and image.transform != header.transform:
        yield "transform"


def _palette(image: rasterio.DatasetReader) -> Colours:
    return palette_of(palette_coordinates(image))


def _comparable(metadata: ImageMetadata) -> dict[str, object]:
    """Return the metadata of an image as values by name, to find those that a trial file changes.

    Absent texts become empty ones.
    """
    flat: dict[str, object] = {
        "names of the bands": [name or "" for name in metadata["band_names"]],
        "scales": metadata["scales"],
        "offsets": metadata["offsets"],
        "units": [unit or "" for unit in metadata["units"]],
        "colour interpretation": metadata["color_interpretation"],
        "ground control points": [point[:5] for point in metadata["gcps"]],
        "nodata": _number(nodata_of(metadata)),
    }
    return flat


def _number(nodata: float | None) -> float | str | None:
    """Return nodata in a form where equal values compare equal: -9 and -9.0, and every NaN."""
    return "nan" if nodata is not None and math.isnan(nodata) else nodata


def _tags(metadata: ImageMetadata) -> dict[str, str]:
    """Return the value of every tag of image and bands by its description in messages."""
    found = {
        f"tag {_full(d, k)}": v for d, tags in metadata["tags"].items() for k, v in tags.items()
    }
    for number, domains in enumerate(metadata["band_tags"], 1):
        for domain, tags in domains.items():
            found |= {f"tag {_full(domain, k)} of band {number}": v for k, v in tags.items()}
    return found


def _full(domain: str, name: str) -> str:
    return f"{domain}:{name}" if domain else name
