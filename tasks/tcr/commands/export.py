"""Command `gangsaw tcr export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import print_table, progress_bars, write_json
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.tcr.commands import options as tcr
from gangsaw.tasks.tcr.commands.count import references

SHOWN = 12  # column names in the output; --json has all


@expand_panels
def export(
    store: Annotated[
        str, typer.Argument(metavar="COUNTS.zarr", help="Store that gangsaw tcr count wrote.")
    ],
    target: Annotated[
        Path, typer.Argument(help="Table to write: .parquet, .csv, .tsv; these also .gz.")
    ],
    *,
    columns: tcr.Columns,
    airr: Annotated[
        bool,
        typer.Option(
            "--airr",
            help="Keep all columns of the AIRR tables that were counted, and append ours: "
            "totals, best D, lengths, erosions and Pgen, or those of --variable.",
        ),
    ] = False,
    overwrite: opt.Overwrite = False,
    printed: tcr.Printed,
) -> None:
    """Write a store of counts as a table with one row per reference, for R for example.

    A variable with more dimensions becomes several columns, one per label, such as
    paths_full_TRBD1_01_nu10_pi4.

    Example: gangsaw tcr export paths.zarr paths.parquet --nu 10 --pi 4
    """
    from gangsaw.codecs.core.plugins.extras import extras_named

    with extras_named():
        from gangsaw.tasks.tcr.store.tables.airr_export import export_airr
        from gangsaw.tasks.tcr.store.tables.export import export as export_plain
    write = export_airr if airr else export_plain
    with progress_bars(quiet=printed.no_bars) as bar:
        show = bar and bar("export", references)
        found = write(store, target, columns.choice(), overwrite=overwrite, on_progress=show)
    if printed.as_json:
        write_json(vars(found))
        return
    more = f" and {len(found.columns) - SHOWN:,} more" if found.columns[SHOWN:] else ""
    names = ", ".join(found.columns[:SHOWN])
    print_table(found.target, [("rows", f"{found.rows:,}"), ("columns", names + more)])
