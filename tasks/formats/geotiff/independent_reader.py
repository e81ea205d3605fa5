"""Independent reader of GeoTIFF by rasterio."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader, library
from gangsaw.tasks.sources.source import Described, Region

if TYPE_CHECKING:
    from rasterio import DatasetReader

DATA = "data"


@dataclass(frozen=True, kw_only=True)
class RasterioArray(Described):
    """Bands of an image, (bands, rows, columns); `path` is its GDAL name."""

    path: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        from rasterio.windows import Window

        bands, rows, columns = region
        window = Window.from_slices((rows.start, rows.stop), (columns.start, columns.stop))
        with _opened(self.path) as image:
            numbers = [band + 1 for band in range(bands.start, bands.stop)]
            return np.asarray(image.read(numbers, window=window))


def open_geotiff_reader(
    path: str, group: str, variables: tuple[str, ...]
) -> IndependentReader | None:
    """Return a reader of the bands of an image as one array; None if they are not requested."""
    if variables and DATA not in variables:
        return None
    absolute = str(Path(path).absolute())
    with _opened(absolute) as file:
        named = f"GTIFF_DIR:{group}:{absolute}" if file.subdatasets else absolute
    with _opened(named) as image:
        rows, columns = image.block_shapes[0]
        corner = image.read(window=((0, 1), (0, 1)))  # its dtype is that of all bands together
        array = RasterioArray(
            name=DATA,
            shape=(image.count, image.height, image.width),
            dtype=corner.dtype,
            dims=("",) * 3,
            chunks=(1, rows, columns),
            path=named,
        )
    return IndependentReader(library("rasterio"), (array,))


@contextmanager
def _opened(path: str) -> Iterator[DatasetReader]:
    import rasterio
    from rasterio.errors import NotGeoreferencedWarning

    with warnings.catch_warnings():  # only the samples matter here, not the georeference
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        with rasterio.open(path) as image:
            yield image
