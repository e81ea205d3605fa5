"""EMIT of the International Space Station, L1B and L2A, in sensor geometry.

The cube is in the root group (downtrack, crosstrack, bands). The group sensor_band_parameters has a
number for each band, the group location has longitude, latitude and height of the pixels. The
tables glt_x and glt_y map a geographic grid to the pixels, and stay in location.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gangsaw.tasks.hyperspectral.products.product import Cube, cubes_by_dims, read_text_attribute

if TYPE_CHECKING:
    import h5py

    from gangsaw.tasks.formats.hdf5.source import XarraySource

BANDS, PLACES = "sensor_band_parameters", "location"


def is_own(file: h5py.File) -> bool:
    """Return True if the file is an EMIT product."""
    says = "EMIT" in read_text_attribute(file, "title") or "EMIT" in read_text_attribute(
        file, "instrument"
    )
    return says and (BANDS in file or PLACES in file)


def cubes(source: XarraySource) -> Iterable[Cube]:
    """Return the axes and coordinates of each image cube of the product."""
    return cubes_by_dims(source, [""], [BANDS], {PLACES: "lon lat elev"})
