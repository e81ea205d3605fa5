"""gangsaw index-genome."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import LocalWorkers
from gangsaw.tasks.console.output import (
    clock,
    print_table,
    progress_bar,
    show_plan,
    size,
    write_json,
)
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import OutputOptions
from gangsaw.tasks.genomics.align.commands.align import SeedOptions

HELP_GROUP = "Sequences"  # of the command in `gangsaw --help`


@expand_panels
def index_genome(
    store: Annotated[str, typer.Argument(help="Zarr store of a genome.", metavar="store")],
    *,
    seeds: SeedOptions,
    cluster: LocalWorkers,
    dry_run: opt.DryRun = False,
    shown: OutputOptions,
) -> None:
    """Store the seeds of a genome next to it; else the first gangsaw align does so.

    Example: gangsaw index-genome genome.zarr
    """
    from gangsaw.tasks.genomics.align.job.indexing import index_genome_job
    from gangsaw.tasks.genomics.align.search.params import SearchParams

    job = partial(index_genome_job, store, SearchParams(**vars(seeds)))
    if dry_run:
        show_plan(job, cluster, as_json=shown.as_json)
        return
    with cluster.session(job) as client, progress_bar("index", quiet=shown.no_bar) as show:
        done = job(client=client, on_progress=show)
    if shown.as_json:
        write_json(vars(done))
        return
    sizes = f"{size(done.stored_bytes)} for {done.residues:,} bases"
    print_table(store, [("index", done.index), ("size", sizes), ("seconds", clock(done.seconds))])
