"""Command `gangsaw tcr germline`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import print_table, write_json
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.tcr.commands import options as tcr

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.germline import Germline


@expand_panels
def germline(
    source: Annotated[
        list[str],
        typer.Argument(help="FASTA files (IMGT style) or tables, .gz or not; or olga."),
    ],
    *,
    genes: tcr.Genes,
    as_json: opt.Json = False,
) -> None:
    """List the germline parts that would be counted, and problems of single genes.

    Example: gangsaw tcr germline TRBV.fasta TRBD.fasta TRBJ.fasta --locus TRB --species human
    """
    found = genes.of(source)
    if as_json:
        write_json(germline_as_json(found))
        return
    rows = [
        (part.name, region, str(len(part.sequence)), part.sequence)
        for region, parts in (("V", found.v), ("D", found.d), ("J", found.j))
        for part in parts
    ]
    print_table(f"{found.source}: {found.locus}", rows, ("gene", "region", "length", "CDR3 part"))
    for note in found.notes:
        typer.echo(note)


def germline_as_json(found: Germline) -> dict[str, object]:
    """Return a germline as JSON values."""
    regions = {"v": found.v, "d": found.d, "j": found.j}
    parts = {r: {part.name: part.sequence for part in parts} for r, parts in regions.items()}
    return {
        "source": found.source,
        "locus": found.locus,
        **parts,
        "notes": found.notes,
    }
