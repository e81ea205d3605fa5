"""Command `gangsaw index`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import Hosts
from gangsaw.tasks.console.output import (
    STOPPED,
    Interrupted,
    clock,
    print_table,
    progress_bar,
    show_plan,
    size,
    write_json,
)
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import ExistingTarget, OutputOptions

HELP_GROUP = "Search"  # of the command in `gangsaw --help`


@expand_panels
def index(
    store: Annotated[str, typer.Argument(help="Zarr store of text or of a genome.")],
    *,
    index: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="Index to write. (default: STORE.index.zarr)", show_default=False
        ),
    ] = "",
    variable: opt.Variable = None,
    rate: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "Sampling rate N of the suffix array: every Nth position is stored. "
                "A higher rate needs less space, and hits are located more slowly. "
                "(default: 64; 32 for bases)"
            ),
            show_default=False,
        ),
    ] = None,
    cluster: Hosts,
    again: ExistingTarget,
    dry_run: opt.DryRun = False,
    shown: OutputOptions,
) -> None:
    """Index the text or the bases of a store for gangsaw search.

    Example: gangsaw index logs.zarr
    """
    from gangsaw.tasks.search.stored.job import index_job

    job = partial(
        index_job,
        store,
        index or None,
        variables=variable or (),
        rate=rate,
        resume=again.resume,
        overwrite=again.overwrite,
    )
    if dry_run:
        show_plan(job, cluster, as_json=shown.as_json)
        return
    with cluster.session(job) as client, progress_bar("index", quiet=shown.no_bar) as show:
        try:
            done = job(client=client, on_progress=show)
        except KeyboardInterrupt:
            raise Interrupted(STOPPED) from None
    if shown.as_json:
        names = ("store", "arrays", "chunks", "resumed", "stored_bytes", "seconds")
        write_json({name: getattr(done, name) for name in names})
        return
    rows = [("of", ", ".join(done.arrays)), ("chunks", f"{done.chunks:,}")]
    rows += [("stored", size(done.stored_bytes)), ("seconds", clock(done.seconds))]
    print_table(done.store, rows)
