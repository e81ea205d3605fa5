"""Command `gangsaw index-reads`: add an index to a store of reads."""

from __future__ import annotations

from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import make_completion
from gangsaw.tasks.console.output import print_table, progress_bar

HELP_GROUP = "Sequences"  # of the command in `gangsaw --help`


def index_reads(
    store: Annotated[str, typer.Argument(help="Zarr store of reads.", metavar="store")],
    of: Annotated[
        str,
        typer.Argument(
            help="names: find reads by name. bins: find reads by signatures of their sequences.",
            metavar="names|bins",
            autocompletion=make_completion(("names", "bins")),
        ),
    ] = "names",
    overwrite: opt.Overwrite = False,
    quiet: opt.Quiet = False,
) -> None:
    """Add an index to a store of reads, so that extract finds them by name or by bin.

    Example: gangsaw index-reads reads.zarr names
    """
    from gangsaw.tasks.genomics.reads.index.build import add_index

    with progress_bar("index", quiet=quiet) as show:
        n = add_index(store, of, overwrite=overwrite, on_progress=show)
    print_table(store, [(f"index of {of}", f"{n:,} entries")])
