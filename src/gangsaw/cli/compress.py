"""gangsaw compress."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import (
    STOPPED,
    Interrupted,
    clock,
    job_figures,
    progress_bar,
    rate,
    size,
    write_json,
    write_table,
)

if TYPE_CHECKING:
    from gangsaw.tasks.jobs.compress import Summary


def compress(
    source: Annotated[
        str,
        typer.Argument(
            help="ENVI header, Zarr, NetCDF, HDF5, GeoTIFF, MeasurementSet, uvh5, uvfits, miriad, "
            "or raw with --shape and --dtype."
        ),
    ],
    target: Annotated[str, typer.Argument(help="Zarr store to write.")],
    codec: opt.Codec = "auto",
    effort: opt.Effort = None,
    chunks: opt.Chunks = None,
    block: opt.Block = None,
    param: opt.Param = None,
    params: opt.ParamsFile = None,
    bit_depth: opt.BitDepth = None,
    resume: opt.Resume = False,
    overwrite: opt.Overwrite = False,
    workers: opt.Workers = None,
    threads: opt.Threads = 0,
    scheduler: opt.Scheduler = "",
    device: opt.Device = "cpu",
    variable: opt.Variable = None,
    group: opt.Group = "",
    shape: opt.Shape = None,
    dtype: opt.Dtype = None,
    interleave: opt.Interleave = "bsq",
    byte_order: opt.ByteOrder = None,
    offset: opt.Offset = 0,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Compress a scene, visibilities or an array into a Zarr store.

    Example: gangsaw compress scene.hdr scene.zarr --bit-depth auto --workers 4
    """
    from gangsaw.tasks import face
    from gangsaw.tasks.formats.opening import open_source

    layout = opt.source_options(variable, group, shape, dtype, interleave, byte_order, offset)
    opened = open_source(source, layout)  # mistakes in its name should not wait for a cluster
    settings = {
        "codec": codec,
        "params": {**opt.params_of(param, params), **({"effort": effort} if effort else {})},
        "block": None if block is None else opt.extents_of("--block", block),
        "bit_depth": opt.bit_depth_of(bit_depth),
        "chunks": opt.chunks_of(chunks),
        "device": device,
        "resume": resume,
        "overwrite": overwrite,
    }
    try:
        with (
            opt.session(workers, threads, scheduler, device) as client,
            progress_bar("compress", quiet=quiet or as_json) as show,
        ):
            summary = face.compress(opened, target, client=client, on_progress=show, **settings)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        raise Interrupted(STOPPED) from None
    if as_json:
        write_json(job_figures(summary))
    else:
        write_table(f"{source} -> {summary.store}", rows(summary))


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return the figures of a finished job as a table."""
    resumed = f", {summary.resumed} of them by an earlier run" if summary.resumed else ""
    unread = f"{size(summary.unread_bytes)} of the file behind the last sample"
    return [
        ("ratio", f"{summary.ratio:.3f}"),
        ("bits/sample", f"{summary.bits_per_sample:.3f}"),
        ("bytes", f"{size(summary.raw_bytes)} -> {size(summary.stored_bytes)}"),
        ("chunks", f"{summary.chunks}{resumed}"),
        ("throughput", f"{rate(summary.throughput)} in {clock(summary.seconds)}"),
        *([("not read", unread)] if summary.unread_bytes else []),
    ]
