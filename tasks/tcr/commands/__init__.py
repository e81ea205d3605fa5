"""Commands of `gangsaw tcr` for T-cell-receptor repertoires, one module per command."""

from __future__ import annotations

import typer

from gangsaw.tasks.tcr.commands import annotate, associate, count, export, germline, share, simulate

app = typer.Typer(
    help="Count the recombination paths of T-cell-receptor repertoires.\n\n"
    "Example: gangsaw tcr count donor1.tsv.gz paths.zarr --species human",
)
app.info.rich_help_panel = "Receptors"  # group of the command in `gangsaw --help`
app.command()(count.count)
app.command()(export.export)
app.command()(share.share)
app.command()(associate.associate)
app.command()(germline.germline)
app.command()(simulate.simulate)
app.command()(annotate.annotate)
