"""PACE OCI, L1B and L2: cubes in observation_data or geophysical_data.

L1B has three cubes (bands, scans, pixels), blue, red and SWIR, with wavelengths in
sensor_band_parameters and locations in geolocation_data. L2 has (lines, pixels, wavelengths), with
locations in navigation_data.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangsaw.tasks.hyperspectral.products.product import Cube, cubes_by_dims, read_text_attribute

if TYPE_CHECKING:
    import h5py

    from gangsaw.tasks.formats.hdf5.source import XarraySource

CUBES, BANDS = ("observation_data", "geophysical_data"), "sensor_band_parameters"
NAMES = "longitude latitude height"
COORDINATES = {"geolocation_data": NAMES, "navigation_data": NAMES}


def is_own(file: h5py.File) -> bool:
    """Return True if the file is a PACE OCI product."""
    is_oci = "OCI" in read_text_attribute(file, "instrument") or "PACE OCI" in read_text_attribute(
        file, "title"
    )
    return is_oci and any(group in file for group in CUBES)


def cubes(source: XarraySource) -> Iterable[Cube]:
    """Return the axes and coordinates of each image cube of the product."""
    return cubes_by_dims(source, CUBES, [BANDS], COORDINATES)
