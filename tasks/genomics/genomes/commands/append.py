"""Command `gangsaw append`: add genomes to a collection."""

from __future__ import annotations

from typing import Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import (
    STOPPED,
    Interrupted,
    clock,
    job_figures,
    print_table,
    progress_bar,
    size,
    write_json,
)
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import OutputOptions

HELP_GROUP = "Sequences"  # of the command in `gangsaw --help`


@expand_panels
def append(
    paths: Annotated[
        list[str], typer.Argument(help="FASTA files of genomes, or pipes, and then the Zarr store.")
    ],
    *,
    resume: opt.Resume = False,
    shown: OutputOptions,
) -> None:
    """Add genomes to a collection; stored data are not rewritten.

    Example: gangsaw append new.fa.gz strains.zarr
    """
    from gangsaw.tasks.formats.contract.pipes import copy_pipes_to_files, refuse_resume
    from gangsaw.tasks.genomics.genomes.collections.append import append_genomes

    *files, store = paths
    if not files:
        raise BadParams("name files of genomes and then the store (see gangsaw append --help)")
    refuse_resume(files, resume=resume)
    with copy_pipes_to_files(files) as ready, progress_bar("append", quiet=shown.no_bar) as show:
        try:
            done = append_genomes(ready, store, resume=resume, on_progress=show)
        except KeyboardInterrupt:
            raise Interrupted(STOPPED) from None
    if shown.as_json:
        write_json(job_figures(done))
        return
    rows = [
        ("genomes", f"{len(files):,} more"),
        ("bytes", f"{size(done.raw_bytes)} -> {size(done.stored_bytes)}"),
        ("chunks", f"{done.chunks:,}"),
        ("seconds", clock(done.seconds)),
        *(("note", note) for note in done.notes),
    ]
    print_table(done.store, rows)
