"""GeoTIFF, through rioxarray."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.tasks.formats.format import Format, Look, Paths, SourceOptions, Sure

if TYPE_CHECKING:
    from gangsaw.tasks.formats.witness import Witness
    from gangsaw.tasks.source import Source

SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def _sure(look: Look) -> Sure:
    return Sure.CONTENT if look.start.startswith(SIGNATURES) else Sure.NO


def _open(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.formats.xarrays import open_geotiff

    return open_geotiff(paths[0], options.variables)


def _witness(paths: Paths, _: SourceOptions) -> Witness:
    from gangsaw.tasks.formats.known.witnesses.geotiff import geotiff_witness

    return geotiff_witness(paths[0])


GEOTIFF = Format(
    name="geotiff",
    title="GeoTIFF",
    about="all bands of one image",
    sure=_sure,
    open=_open,
    witness=_witness,
    takes=frozenset({"variables"}),
    needs=("rioxarray",),
    extra="gangsaw[io]",
)
