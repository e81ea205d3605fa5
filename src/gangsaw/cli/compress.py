"""gangsaw compress."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.codec_options import with_codec_options
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
from gangsaw.tasks.formats import table

if TYPE_CHECKING:
    from gangsaw.tasks.jobs.compress import Summary

STREAM_STOPPED = "interrupted: send the stream again, with another target or --overwrite"


@with_codec_options
def compress(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE... TARGET",
            help=f"What to read: {table.titles(table.readable())}; several where a format takes "
            "them together. The last path is the Zarr store to write.",
        ),
    ],
    codec: opt.Codec = "auto",
    chunks: opt.Chunks = None,
    block: opt.Block = None,
    param: opt.Param = None,
    params: opt.ParamsFile = None,
    resume: opt.Resume = False,
    overwrite: opt.Overwrite = False,
    workers: opt.Workers = None,
    threads: opt.Threads = 0,
    scheduler: opt.Scheduler = "",
    device: opt.Device = "cpu",
    format_: opt.SourceFormat = None,
    variable: opt.Variable = None,
    group: opt.Group = "",
    shape: opt.Shape = None,
    dtype: opt.Dtype = None,
    interleave: opt.Interleave = None,
    byte_order: opt.ByteOrder = None,
    offset: opt.Offset = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    codec_options: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Compress a scene, visibilities or an array into a Zarr store.

    Example: gangsaw compress scene.hdr scene.zarr --bit-depth auto --workers 4
    """
    from gangsaw.tasks import api
    from gangsaw.tasks.formats.opening import open_paths
    from gangsaw.tasks.source import Stream

    *source, target = paths
    if not source:
        raise BadParams("name a source and then the target (see gangsaw compress --help)")
    layout = opt.source_options(
        variable, group, shape, dtype, interleave, byte_order, offset, format_
    )
    opened = open_paths(source, layout)  # mistakes in its name should not wait for a cluster
    settings = {
        "codec": codec,
        "params": opt.params_of(param, params),
        "options": codec_options,
        "block": None if block is None else opt.extents_of("--block", block),
        "chunks": opt.chunks_of(chunks),
        "device": device,
        "resume": resume,
        "overwrite": overwrite,
    }
    is_stream = isinstance(opened, Stream)
    try:
        with (
            opt.session(0 if is_stream else workers, threads, scheduler, device) as client,
            progress_bar("compress", quiet=quiet or as_json) as show,
        ):
            summary = api.compress(opened, target, client=client, on_progress=show, **settings)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        raise Interrupted(STREAM_STOPPED if is_stream else STOPPED) from None
    if as_json:
        write_json(job_figures(summary))
    else:
        write_table(f"{', '.join(source)} -> {summary.store}", rows(summary))


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return the figures of a finished job as a table."""
    resumed = f", {summary.resumed} of them by an earlier run" if summary.resumed else ""
    unread = f"{size(summary.unread_bytes)} of the file after the last sample"
    return [
        ("ratio", f"{summary.ratio:.3f}"),
        ("bits/sample", f"{summary.bits_per_sample:.3f}"),
        ("bytes", f"{size(summary.raw_bytes)} -> {size(summary.stored_bytes)}"),
        ("chunks", f"{summary.chunks}{resumed}"),
        ("throughput", f"{rate(summary.throughput)} in {clock(summary.seconds)}"),
        *([("not read", unread)] if summary.unread_bytes else []),
    ]
