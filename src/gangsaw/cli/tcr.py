"""gangsaw tcr: T-cell-receptor repertoires; a file for each command."""

from __future__ import annotations

import typer

from gangsaw.cli import tcr_associate, tcr_count, tcr_export, tcr_germline, tcr_share

app = typer.Typer(
    help="Count the recombination paths of T-cell-receptor repertoires.\n\n"
    "Example: gangsaw tcr count donor1.tsv.gz paths.zarr --species human"
)
app.command()(tcr_count.count)
app.command()(tcr_export.export)
app.command()(tcr_share.share)
app.command()(tcr_associate.associate)
app.command()(tcr_germline.germline)
