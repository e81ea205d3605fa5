"""gangsaw tcr share."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import Near
from gangsaw.tasks.console.output import clock, progress_bar, write_json, write_table
from gangsaw.tasks.console.panels import panels
from gangsaw.tasks.tcr.commands import options as tcr

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.sharing.share import Shared

SHOWN = 20  # numbers of individuals that are listed one by one; --json has all


@panels
def share(
    counts: Annotated[
        list[str], typer.Argument(metavar="COUNTS.zarr...", help="Stores of gangsaw tcr count.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT.parquet", help="Table to write.")],
    *,
    individuals: Annotated[
        Path | None,
        typer.Option(
            help="Table of sample and individual, which joins the samples of a donor. "
            "(default: each sample is one)",
            show_default=False,
        ),
    ] = None,
    cluster: Near,
    overwrite: opt.Overwrite = False,
    printed: tcr.Printed,
) -> None:
    """Find the nucleotypes, identical CDR3 with the same V and J, that individuals share.

    Example: gangsaw tcr share paths.zarr shared.parquet --individuals donors.tsv
    """
    from gangsaw.codecs.core.extras import extras_named

    with extras_named():
        from gangsaw.tasks.tcr.sharing.share import share as job
    run = partial(job, counts, target, table=individuals, overwrite=overwrite)
    with (
        cluster.session(run) as client,
        progress_bar("share", quiet=printed.no_bars) as show,
    ):
        found = run(client=client, on_progress=show)
    if printed.as_json:
        write_json(found.to_dict())
    else:
        write_table(found.target, _rows(found))
        write_table("sharing", _sharing(found), ("individuals", "nucleotypes", "percent"))


def _rows(found: Shared) -> list[tuple[str, str]]:
    return [
        ("rows", f"{found.rows:,} of {found.samples:,} samples, {found.individuals:,} individuals"),
        ("nucleotypes", f"{found.nucleotypes:,}, {found.shared:,} of them shared"),
        ("seconds", clock(found.seconds)),
        *(("note", note) for note in found.notes),
    ]


def _sharing(found: Shared) -> list[tuple[str, str, str]]:
    each = sorted(found.sharing.items())
    rows = [(str(k), n) for k, n in each[:SHOWN]]
    if rest := each[SHOWN:]:
        rows.append((f"{rest[0][0]} or more", sum(n for _, n in rest)))
    return [(k, f"{n:,}", f"{100 * n / found.nucleotypes:.3g}") for k, n in rows]
