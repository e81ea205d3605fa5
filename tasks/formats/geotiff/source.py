"""GeoTIFF sources: samples read by rasterio, metadata for xarray users by rioxarray.

The store has the grid (`spatial_ref`) and attributes as rioxarray defines them. The attribute
"geotiff" holds all other metadata of the file. A mask is an array of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rasterio.enums import Interleaving, MaskFlags
from rasterio.errors import RasterioError
from rasterio.windows import Window

from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.formats.flat.flat_array import file_identity
from gangsaw.tasks.formats.geotiff.bands import band_coordinates
from gangsaw.tasks.formats.geotiff.grid import grid_coordinates
from gangsaw.tasks.formats.geotiff.opening import open_image
from gangsaw.tasks.formats.geotiff.palette import palette_coordinates
from gangsaw.tasks.formats.geotiff.tags import collect_image_attributes
from gangsaw.tasks.sources.source import Coordinate, Described, Region, SourceArray
from gangsaw.tasks.store.dataset.variables import json_attrs, split_variables
from gangsaw.tasks.store.objects.versions import file_versions, version_of

if TYPE_CHECKING:
    from rasterio.io import DatasetReader

DATA, MASK = "data", "mask"
MASK_ATTRS = {"flag_values": [0, 255], "flag_meanings": "invalid valid"}
WIDER = {"complex_int16": "complex64"}  # GDAL dtypes that NumPy lacks: the dtype rasterio returns


@dataclass(frozen=True, kw_only=True)
class GeotiffArray(Described):
    """Bands of an image, or its mask; the file is opened for each read.

    Threads may not share a GDAL data set, and opening one only reads a header.

    Attributes
    ----------
    path : GDAL name of the image
    version : path, size and modification time of the file
    is_mask : whether the array is the mask: 255 for valid pixels, else 0
    """

    path: str
    version: str
    is_mask: bool = False

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region; raise OSError if they cannot be read."""
        *bands, rows, columns = region
        window = Window.from_slices(rows, columns)
        with open_image(self.path) as image:
            if self.is_mask:
                mask: NumpyArray = image.read_masks(1, window=window)
                return mask
            numbers = [i + 1 for i in range(bands[0].start, bands[0].stop)]
            samples: NumpyArray = image.read(numbers, window=window)
            return samples


@dataclass(frozen=True)
class GeotiffSource:
    """Source made of one image of a TIFF, its mask and its coordinates."""

    name: str
    path: str
    arrays: tuple[SourceArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict, compare=False)
    notes: tuple[str, ...] = ()

    def identity(self) -> str:
        """Return the path, size and modification time of the file and its sidecar files."""
        return file_identity(self.path, *_list_sidecars(self.path))

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the file and its sidecar files."""
        return file_versions(self.path, *_list_sidecars(self.path))


def open_geotiff(path: str, group: str = "", variables: Sequence[str] = ()) -> GeotiffSource:
    """Open an image of a GeoTIFF as a source.

    Parameters
    ----------
    group : number of the image, from 1, if the file contains several
    variables : "data", "mask" or both; empty for all

    Raises BadParams if the file cannot be read, or contains several images and none is named.
    """
    absolute = str(Path(path).absolute())
    with _errors(path), open_image(_image(path, absolute, group)) as image:
        where, version = image.name, version_of(absolute)
        coords, notes = _coordinates(where, image), _notes(image)
        attrs = collect_image_attributes(image, coords)
        found = [_data(image, attrs, where, version)]
        if has_mask(image):
            found.append(_mask(image, attrs, where, version))
    arrays, _ = split_variables(found, variables, chunked={array.name for array in found})
    return GeotiffSource(path, absolute, arrays, coords, notes=notes)


def _coordinates(where: str, image: DatasetReader) -> tuple[Coordinate, ...]:
    of_bands = band_coordinates(image)
    written = {coord.name for coord in of_bands}
    grid = (coord for coord in grid_coordinates(where, image) if coord.name not in written)
    return (*grid, *of_bands, *palette_coordinates(image))


def has_mask(image: DatasetReader) -> bool:
    """Return True if an image has a mask band, as opposed to nodata or alpha."""
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


def _notes(image: DatasetReader) -> tuple[str, ...]:
    """Return a note for each dtype of the file that becomes another dtype in the store."""
    found = sorted({name for name in image.dtypes if name in WIDER})
    return tuple(
        f"samples are {name} in the file and {WIDER[name]} in the store, with equal values: "
        f"NumPy has no {name}"
        for name in found
    )


def _image(path: str, absolute: str, group: str) -> str:
    """Return the GDAL name of an image; raise BadParams if the group selects none."""
    with open_image(absolute) as file:
        n_images = len(file.subdatasets) or 1
    if not group and n_images == 1:
        return absolute
    numbers = [str(i + 1) for i in range(n_images)]
    if group not in numbers:
        there = join_words(numbers)
        wrong = f"no image {group!r}" if group else "several images"
        raise BadParams(f"{path} holds {wrong}: select one by --group; there are {there}")
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


def _list_sidecars(path: str) -> list[str]:
    """Return the sidecar files of an image: masks, tags, overviews, world files."""
    with open_image(path) as image:
        return sorted(str(name) for name in image.files[1:])
