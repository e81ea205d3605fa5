"""Images opened by rasterio, without its warnings about missing georeference."""

from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING

import rasterio
from rasterio.errors import NotGeoreferencedWarning

if TYPE_CHECKING:
    from rasterio.io import DatasetReader

_LOCK = threading.Lock()  # the filters of warnings are global to the process


def open_image(path: str, **options: object) -> DatasetReader:
    """Open an image for reading."""
    with _LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        return rasterio.open(path, **options)
