"""GeoTIFF images: samples by rasterio, what xarray's users expect by rioxarray.

The store has what rioxarray makes of an image (its grid as `spatial_ref`, attributes), and, as the
attribute "geotiff", all that the file says and they do not. A mask is an array of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import rasterio
from rasterio.enums import Interleaving, MaskFlags
from rasterio.errors import RasterioError
from rasterio.windows import Window

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.formats.flat import file_identity
from gangsaw.tasks.formats.known.geotiff.bands import band_coordinates
from gangsaw.tasks.formats.known.geotiff.grid import grid_coordinates
from gangsaw.tasks.formats.known.geotiff.palette import palette_coordinates
from gangsaw.tasks.formats.known.geotiff.tags import attributes
from gangsaw.tasks.source import Coordinate, Described, Region, SourceArray
from gangsaw.tasks.store.dataset.variables import json_attrs, split
from gangsaw.tasks.store.stamps import file_stamps, version_of

if TYPE_CHECKING:
    from rasterio.io import DatasetReader

DATA, MASK = "data", "mask"
MASK_ATTRS = {"flag_values": [0, 255], "flag_meanings": "invalid valid"}
WIDER = {"complex_int16": "complex64"}  # dtypes of GDAL that NumPy lacks, as rasterio reads them


@dataclass(frozen=True, kw_only=True)
class GeotiffArray(Described):
    """All bands of an image, or its mask; the file is opened for each read.

    GDAL's data sets may not be shared by threads, and opening one reads a header.

    Attributes
    ----------
    path : as GDAL names the image
    version : path, bytes and modification time of the file
    is_mask : whether it is what is valid: 0 or 255
    """

    path: str
    version: str
    is_mask: bool = False

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region; OSError for what cannot be read."""
        *bands, rows, columns = region
        window = Window.from_slices(rows, columns)
        with rasterio.open(self.path) as image:
            if self.is_mask:
                mask: NumpyArray = image.read_masks(1, window=window)
                return mask
            numbers = [i + 1 for i in range(bands[0].start, bands[0].stop)]
            samples: NumpyArray = image.read(numbers, window=window)
            return samples


@dataclass(frozen=True)
class GeotiffSource:
    """One image of a TIFF, its mask and its coordinates."""

    name: str
    path: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)

    def identity(self) -> str:
        """Path, bytes and modification time, those of files beside it included."""
        return file_identity(self.path, *_beside(self.path))

    def stamps(self) -> Mapping[str, str]:
        """What changes with the file and those beside it."""
        return file_stamps(self.path, *_beside(self.path))


def open_geotiff(path: str, group: str = "", variables: Sequence[str] = ()) -> GeotiffSource:
    """Describe an image of a GeoTIFF.

    Parameters
    ----------
    group : number of the image, from 1, where the file holds several
    variables : "data", "mask" or both; none is all

    Raises BadParams where it cannot be read as one, or holds several images and none is named.
    """
    absolute = str(Path(path).absolute())
    with _errors(path), rasterio.open(_image(path, absolute, group)) as image:
        where, version = image.name, version_of(absolute)
        coords = _coordinates(where, image)
        attrs = attributes(image, coords)
        found = [_data(image, attrs, where, version)]
        if has_mask(image):
            found.append(_mask(image, attrs, where, version))
    arrays, _ = split(found, variables, chunked={array.name for array in found})
    return GeotiffSource(path, absolute, arrays, coords)


def _coordinates(where: str, image: DatasetReader) -> tuple[Coordinate, ...]:
    of_bands = band_coordinates(image)
    written = {coord.name for coord in of_bands}
    grid = (coord for coord in grid_coordinates(where, image) if coord.name not in written)
    return (*grid, *of_bands, *palette_coordinates(image))


def has_mask(image: DatasetReader) -> bool:
    """Whether an image has a mask apart from nodata and alpha."""
    flags: Sequence[Sequence[MaskFlags]] = image.mask_flag_enums
    others = {MaskFlags.alpha, MaskFlags.nodata, MaskFlags.all_valid}
    return MaskFlags.per_dataset in flags[0] and not others & set(flags[0])


def _data(
    image: DatasetReader, attrs: Mapping[str, object], where: str, version: str
) -> GeotiffArray:
    rows, columns = image.block_shapes[0]
    bands = image.count if image.interleaving == Interleaving.pixel else 1
    dtype = _dtype(image)
    return GeotiffArray(
        path=where,
        version=version,
        name=DATA,
        shape=(image.count, image.height, image.width),
        dtype=dtype,
        dims=("band", "y", "x"),
        chunks=(bands, rows, columns),
        attrs=json_attrs(attrs, dtype),
        fill_value=attrs.get("_FillValue"),
    )


def _mask(
    image: DatasetReader, attrs: Mapping[str, object], where: str, version: str
) -> GeotiffArray:
    linked = {key: attrs[key] for key in ("grid_mapping", "coordinates") if key in attrs}
    return GeotiffArray(
        path=where,
        version=version,
        name=MASK,
        shape=(image.height, image.width),
        dtype=np.dtype("u1"),
        dims=("y", "x"),
        chunks=image.block_shapes[0],
        attrs={**MASK_ATTRS, **linked},
        is_mask=True,
    )


def _dtype(image: DatasetReader) -> Dtype:
    names = {WIDER.get(name, name) for name in image.dtypes}
    return np.result_type(*(np.dtype(name) for name in names))


def _image(path: str, absolute: str, group: str) -> str:
    """Return the image as GDAL names it."""
    with rasterio.open(absolute) as file:
        n_images = len(file.subdatasets) or 1
    if not group and n_images == 1:
        return absolute
    numbers = [str(i + 1) for i in range(n_images)]
    if group not in numbers:
        there = listed(numbers)
        wrong = f"no image {group!r}" if group else "several images"
        raise BadParams(f"{path} holds {wrong}: take one by --group; there are {there}")
    return f"GTIFF_DIR:{group}:{absolute}" if n_images > 1 else absolute


@contextmanager
def _errors(path: str) -> Iterator[None]:
    try:
        yield
    except (RasterioError, OSError, ValueError, KeyError) as error:
        if isinstance(error, BadParams):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadParams(f"{path} cannot be read: {reason}") from error


def _beside(path: str) -> list[str]:
    """Return the files beside an image that belong to it: masks, tags, overviews, world files."""
    with rasterio.open(path) as image:
        return sorted(str(name) for name in image.files[1:])
