"""gangsaw decompress."""

from __future__ import annotations

from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import progress_bar


def decompress(
    store: Annotated[str, typer.Argument(help="Zarr store to read.")],
    target: Annotated[
        str,
        typer.Argument(
            help="What to write: .hdr .img .bsq .bil .bip (ENVI), .nc, .zarr, .raw, "
            ".ms, .uvh5 or .uvfits."
        ),
    ],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="envi, netcdf, zarr, raw, ms, uvh5, uvfits or hdf5. (default: by suffix)",
            show_default=False,
        ),
    ] = None,
    interleave: Annotated[
        str | None,
        typer.Option(help="bsq, bil or bip. (default: as the source was)", show_default=False),
    ] = None,
    byte_order: Annotated[
        str | None,
        typer.Option(help="little or big. (default: as the source was)", show_default=False),
    ] = None,
    variable: opt.Variable = None,
    group: opt.Group = "",
    overwrite: opt.Overwrite = False,
    resume: opt.Resume = False,
    workers: opt.Workers = 0,
    threads: opt.Threads = 0,
    scheduler: opt.Scheduler = "",
    quiet: opt.Quiet = False,
) -> None:
    """Write a store as ENVI, NetCDF, Zarr, raw, MeasurementSet, uvh5 or uvfits, bit for bit.

    Example: gangsaw decompress scene.zarr copy.hdr --interleave bip
    """
    from gangsaw.tasks import face
    from gangsaw.tasks.formats.export import ExportOptions

    with (
        opt.session(workers, threads, scheduler) as client,
        progress_bar("decompress", quiet=quiet) as show,
    ):
        face.decompress(
            store,
            target,
            options=ExportOptions(format_, interleave, byte_order),
            source=opt.source_options(variable, group),
            client=client,
            overwrite=overwrite,
            resume=resume,
            on_progress=show,
        )
