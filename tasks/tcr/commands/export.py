"""gangsaw tcr export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import progress_bars, write_json, write_table
from gangsaw.tasks.tcr.commands.count import references

SHOWN = 12  # names of columns that are listed; --json has all


def export(
    store: Annotated[
        str, typer.Argument(metavar="COUNTS.zarr", help="Store that gangsaw tcr count wrote.")
    ],
    target: Annotated[
        Path, typer.Argument(help="Table to write: .parquet, .csv, .tsv; these also .gz.")
    ],
    variable: Annotated[
        list[str] | None,
        typer.Option(help="Variable to take, repeatable. (default: all)", show_default=False),
    ] = None,
    nu: Annotated[
        list[int] | None,
        typer.Option(help="Of the sweep, repeatable. (default: all)", show_default=False),
    ] = None,
    pi: Annotated[
        list[int] | None,
        typer.Option(help="Of the sweep, repeatable. (default: all)", show_default=False),
    ] = None,
    total_n: Annotated[
        list[int] | None,
        typer.Option(help="Of DP-1, repeatable. (default: all)", show_default=False),
    ] = None,
    counts: Annotated[
        str,
        typer.Option(
            help="int64 refuses counts beyond 2^63 - 1, float64 rounds beyond 2^53, text is exact."
        ),
    ] = "int64",
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Write a store of counts as a table with a row per reference, as for R.

    A variable with more dimensions becomes a column for each of their labels, such as
    paths_full_TRBD1_01_nu10_pi4.

    Example: gangsaw tcr export paths.zarr paths.parquet --nu 10 --pi 4
    """
    from gangsaw.tasks.tcr.extra import extra_needed

    with extra_needed():
        from gangsaw.tasks.tcr.store import export as job
    choice = job.ExportChoice(
        tuple(variable or ()),
        tuple(nu or ()),
        tuple(pi or ()),
        tuple(total_n or ()),
        counts,  # type: ignore[arg-type]
    )
    with progress_bars(quiet=quiet or as_json) as bar:
        show = bar and bar("export", references)
        found = job.export(store, target, choice, overwrite=overwrite, on_progress=show)
    if as_json:
        write_json(vars(found))
        return
    more = f" and {len(found.columns) - SHOWN:,} more" if found.columns[SHOWN:] else ""
    names = ", ".join(found.columns[:SHOWN])
    write_table(found.target, [("rows", f"{found.rows:,}"), ("columns", names + more)])
