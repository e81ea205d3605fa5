"""Formats of imaging spectrometers: NetCDF, HDF5 and GeoTIFF in the layouts of their products.

Each one reads all that its general format reads. A module of the same name in `products` knows the
layout. For NetCDF and HDF5, its `is_own` recognizes an open file and its `cubes` describes the
arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from gangsaw.tasks.formats.contract.format import Format, Look, Paths, SourceOptions, Sure

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.sources.source import Source

TIFF = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def _delegate_to(general: str) -> Callable[[Paths, SourceOptions], IndependentReader | None]:
    """Return a function that opens product files with the reader of the general format."""

    def open_reader(paths: Paths, options: SourceOptions) -> IndependentReader | None:
        from gangsaw.tasks.formats.contract.table import get_format, readable

        asked = get_format(general, readable()).independent_reader
        return None if asked is None else asked(paths, options)

    return open_reader


def _product(name: str, title: str, about: str) -> Format:
    def sure(look: Look) -> Sure:
        if not look.is_hdf5:
            return Sure.NO
        from gangsaw.tasks.hyperspectral.products.product import is_product

        return Sure.EXACTLY if is_product(look.path, _module(name).is_own) else Sure.NO

    def opened(paths: Paths, options: SourceOptions) -> Source:
        from gangsaw.tasks.hyperspectral.products.product import open_product

        return open_product(paths[0], options, _module(name).cubes)

    takes = frozenset({"variables", "group"})
    return Format(
        name=name,
        needs=("xarray", "h5netcdf"),
        extra="gangsaw[netcdf]",
        title=title,
        about=about,
        sure=sure,
        open=opened,
        independent_reader=_delegate_to("netcdf"),
        takes=takes,
    )


def _module(name: str) -> ModuleType:
    return import_module(f"gangsaw.tasks.hyperspectral.products.{name}")


EMIT = _product("emit", "EMIT", "L1B and L2A; wavelengths and positions as coordinates")


def _sure_enmap(look: Look) -> Sure:
    if not look.start.startswith(TIFF):
        return Sure.NO
    from gangsaw.tasks.hyperspectral.products.enmap import metadata_of

    return Sure.NO if metadata_of(Path(look.path)) is None else Sure.EXACTLY


def _open_enmap(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.formats.contract.table import get_format, readable
    from gangsaw.tasks.hyperspectral.products.enmap import add_band_coordinates

    general = get_format("geotiff", readable())
    assert general.open is not None
    image = cast("Source", general.open(paths, options))  # a GeoTIFF is never a stream
    return add_band_coordinates(image, Path(paths[0]))


ENMAP = Format(
    name="enmap",
    title="EnMAP",
    about="GeoTIFF with METADATA.XML next to it; wavelengths as coordinates",
    sure=_sure_enmap,
    open=_open_enmap,
    independent_reader=_delegate_to("geotiff"),
    takes=frozenset({"variables"}),
    needs=("rioxarray",),
    extra="gangsaw[io]",
)
NEON = _product(
    "neon",
    "NEON AOP",
    "reflectance and radiance; axes named, wavelengths and the map as coordinates",
)
PACE = _product("pace", "PACE OCI", "L1B and L2; wavelengths and positions as coordinates")
PRISMA = _product(
    "prisma", "PRISMA", "L1 to L2D; axes named, wavelengths and positions as coordinates"
)
