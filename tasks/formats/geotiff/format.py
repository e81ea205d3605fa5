"""Format entry of GeoTIFF: read by rasterio and rioxarray, written plain or cloud-optimised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.codecs.core.plugins.options import Option
from gangsaw.tasks.formats.contract.format import (
    ExportOptions,
    Fit,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
    catch_refusal,
)

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
    from gangsaw.tasks.sources.source import Source

SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def _sure(look: Look) -> Sure:
    return Sure.CONTENT if look.start.startswith(SIGNATURES) else Sure.NO


def _open(paths: Paths, options: SourceOptions) -> Source:
    from gangsaw.tasks.formats.geotiff.source import open_geotiff

    return open_geotiff(paths[0], options.group, options.variables)


def _fit(source: Source) -> Fit:
    if refusal := catch_refusal(
        lambda: GEOTIFF.check_installed(f"{source.name} as it would be written")
    ):
        return Fit(refusal)
    from gangsaw.tasks.formats.geotiff.fit import judge_geotiff_fit

    return judge_geotiff_fit(source)


def _lost_with(source: Source, options: ExportOptions) -> tuple[str, ...]:
    from gangsaw.tasks.formats.geotiff.fit import lost_of_cog

    return lost_of_cog(source) if _is_cog(options) else ()


def _open_independent_reader(paths: Paths, options: SourceOptions) -> IndependentReader | None:
    from gangsaw.tasks.formats.geotiff.independent_reader import open_geotiff_reader

    return open_geotiff_reader(paths[0], options.group, options.variables)


def _is_cog(options: ExportOptions) -> bool:
    return options.own.get("cog") == "yes"


def _export(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from pathlib import Path

    from gangsaw.tasks.formats.geotiff.export import export_geotiff
    from gangsaw.tasks.formats.geotiff.header import select_geotiff_image

    export_geotiff(select_geotiff_image(source), Path(paths[0]), work, cog=_is_cog(options))


GEOTIFF = Format(
    name="geotiff",
    title="GeoTIFF",
    about="all bands of one image, its mask and its tags; `--group` selects one of several",
    sure=_sure,
    open=_open,
    independent_reader=_open_independent_reader,
    takes=frozenset({"variables", "group"}),
    export=_export,
    export_options=(
        Option("cog", "Write a compressed cloud-optimised GeoTIFF.", "no", choices=("yes", "no")),
    ),
    suffixes=(".tif", ".tiff"),
    damaged=("fill",),
    fit=_fit,
    lost_with=_lost_with,
    needs=("rioxarray",),
    extra="gangsaw[io]",
)
