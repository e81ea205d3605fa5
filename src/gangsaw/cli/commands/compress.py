"""gangsaw compress."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import Cluster
from gangsaw.tasks.console.output import (
    STOPPED,
    Interrupted,
    clock,
    job_figures,
    print_table,
    progress_bar,
    rate,
    ratio_rows,
    show_plan,
    write_json,
)
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import AnySource, Encoding, ExistingTarget, OutputOptions
from gangsaw.tasks.console.table_options import with_codec_options, with_source_options
from gangsaw.tasks.formats.contract import table

if TYPE_CHECKING:
    from gangsaw.tasks.jobs.compress import Summary
    from gangsaw.tasks.sources.source import Source, Stream

LEAST_SHARE = 0.005  # share of a store's bytes: smaller arrays are not listed
STREAM_STOPPED = "interrupted: send the stream again, with another target or --overwrite"


@with_codec_options
@with_source_options
@expand_panels
def compress(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE... TARGET",
            help=f"What to read: {table.titles(table.readable())}; several where a format reads "
            "them together. The last path is the Zarr store to write.",
        ),
    ],
    encoding: Encoding,
    codec_options: Mapping[str, str],
    again: ExistingTarget,
    *,
    cluster: Cluster,
    source: AnySource,
    format_options: Mapping[str, str],
    dry_run: opt.DryRun = False,
    shown: OutputOptions,
) -> None:
    """Compress images, visibilities, reads, genomes, text or arrays into a Zarr store.

    Example: gangsaw compress scene.hdr scene.zarr --bit-depth auto --workers 4
    """
    from gangsaw.tasks.api import functions
    from gangsaw.tasks.formats.contract.opening import open_watched, without_pipes
    from gangsaw.tasks.formats.exporting.export import check_store_target
    from gangsaw.tasks.jobs.streams.replayable import ReplayableStream
    from gangsaw.tasks.sources.source import Stream

    *sources, target = paths
    if not sources:
        raise BadParams("name a source and then the target (see gangsaw compress --help)")
    # mistakes are reported before a cluster starts
    check_store_target(target)
    said = source.options(format_options)
    with without_pipes(sources, said) as ready:
        opened, watch = open_watched(ready, said)
        job = partial(
            functions.encode,
            target=target,
            recipe=encoding.recipe(codec_options),
            resume=again.resume,
            overwrite=again.overwrite,
            is_part=bool(said.variables),
        )
        if isinstance(opened, Stream):
            cluster = _reading_here(cluster)
            if not getattr(opened, "is_repeatable", False):
                opened = ReplayableStream(opened)
        once = opened if isinstance(opened, ReplayableStream) else None

        def checked() -> Summary:
            return job(once or open_watched(ready, said)[0])

        if dry_run:
            show_plan(checked, cluster, as_json=shown.as_json, targets=[target])
            return
        summary = _run(partial(job, watch=watch), opened, checked, cluster, quiet=shown.no_bar)
    _show(summary, sources, as_json=shown.as_json)


def _reading_here(cluster: Cluster) -> Cluster:
    """Return the cluster for a stream: without a request for workers, none is started.

    This process reads the stream, and its threads need no copies.
    """
    is_asked = cluster.workers is not None or cluster.is_named
    return cluster if is_asked else replace(cluster, workers=0)


def _run(
    job: partial[Summary],
    opened: Source | Stream,
    checked: Callable[[], Summary],
    cluster: Cluster,
    *,
    quiet: bool,
) -> Summary:
    """Run the job with the requested workers, after a dry run of it.

    Parameters
    ----------
    opened : a stream that cannot be read again is a `ReplayableStream`
    checked : the same job, for the dry run
    quiet : show no progress bar
    """
    from gangsaw.tasks.jobs.streams.replayable import ReplayableStream

    once = opened if isinstance(opened, ReplayableStream) else None
    try:
        with (
            cluster.session(checked) as client,
            progress_bar("compress", quiet=quiet) as show,
        ):
            ready = once.as_it_is() if once else opened
            return job(ready, device=cluster.device, client=client, on_progress=show)
    except KeyboardInterrupt:
        raise Interrupted(STREAM_STOPPED if once else STOPPED) from None


def _show(summary: Summary, sources: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        write_json(job_figures(summary))
    else:
        print_table(f"{', '.join(sources)} -> {summary.store}", rows(summary))


def rows(summary: Summary) -> list[tuple[str, str]]:
    """Return the figures of a finished job as rows of a table."""
    resumed = f", {summary.resumed} of them by an earlier run" if summary.resumed else ""
    return [
        *ratio_rows(summary),
        ("bits/sample", f"{summary.bits_per_sample:.3f}"),
        *_shares(summary.array_bytes),
        ("chunks", f"{summary.chunks}{resumed}"),
        ("throughput", f"{rate(summary.throughput)} in {clock(summary.seconds)}"),
        *(("note", note) for note in summary.notes),
    ]


def _shares(array_bytes: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield a table row with each array's share of the stored bytes, if a stream has several."""
    total = sum(array_bytes.values())
    by_size = sorted(array_bytes.items(), key=lambda item: -item[1])
    shares = [f"{name} {100 * n / total:.1f} %" for name, n in by_size if n > LEAST_SHARE * total]
    if len(shares) > 1:
        yield "of these", ", ".join(shares)
