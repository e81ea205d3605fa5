"""EMIT of the International Space Station, L1B and L2A, in the geometry of the sensor.

The cube lies in the root (downtrack, crosstrack, bands); sensor_band_parameters has a number for
each band, location has longitudes, latitudes and heights of the pixels. The tables glt_x and glt_y
lead from a map to the pixels and stay in location.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangsaw.tasks.hyperspectral.products.product import Cube, by_dims, text_of

if TYPE_CHECKING:
    import h5py

    from gangsaw.tasks.formats.xarrays import XarraySource

BANDS, PLACES = "sensor_band_parameters", "location"


def is_own(file: h5py.File) -> bool:
    """Whether the file is such a product."""
    says = "EMIT" in text_of(file, "title") or "EMIT" in text_of(file, "instrument")
    return says and (BANDS in file or PLACES in file)


def cubes(source: XarraySource) -> Iterable[Cube]:
    """Say what is known of the arrays."""
    return by_dims(source, [""], [BANDS], {PLACES: "lon lat elev"})
