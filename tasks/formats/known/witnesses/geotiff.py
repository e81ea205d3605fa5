"""GeoTIFF by rasterio, band by band."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.formats.witness import Witness, library
from gangsaw.tasks.source import Described, Region

if TYPE_CHECKING:
    from rasterio import DatasetReader


@dataclass(frozen=True, kw_only=True)
class RasterioArray(Described):
    """The bands of an image: (bands, rows, columns)."""

    path: str

    def read(self, region: Region) -> NumpyArray:
        """Return the samples of the region."""
        from rasterio.windows import Window

        bands, rows, columns = region
        window = Window.from_slices((rows.start, rows.stop), (columns.start, columns.stop))
        with _opened(self.path) as image:
            numbers = [band + 1 for band in range(bands.start, bands.stop)]
            return np.asarray(image.read(numbers, window=window))


def geotiff_witness(path: str) -> Witness:
    """Return the bands of an image as one array."""
    absolute = str(Path(path).absolute())
    with _opened(absolute) as image:
        shape = (image.count, image.height, image.width)
        rows, columns = image.block_shapes[0]
        array = RasterioArray(
            name="data",
            shape=shape,
            dtype=np.dtype(image.dtypes[0]),
            dims=("",) * 3,
            chunks=(1, rows, columns),
            path=absolute,
        )
    return Witness(library("rasterio"), (array,))


@contextmanager
def _opened(path: str) -> Iterator[DatasetReader]:
    import rasterio
    from rasterio.errors import NotGeoreferencedWarning

    with warnings.catch_warnings():  # whether it has a place on Earth does not matter here
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        with rasterio.open(path) as image:
            yield image
