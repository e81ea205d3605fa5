"""gangsaw decompress."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import Near
from gangsaw.tasks.console.output import progress_bar, write_table
from gangsaw.tasks.console.panels import panels
from gangsaw.tasks.console.parts import Again, StoreSource, TargetChoice
from gangsaw.tasks.console.table_options import with_export_options
from gangsaw.tasks.formats import table


@with_export_options
@panels
def decompress(
    store: Annotated[str, typer.Argument(help="Zarr store to read.")],
    target: Annotated[
        list[str],
        typer.Argument(
            help=f"What to write, by suffix: {table.suffixes(table.writable())}; several where a "
            "format writes them together."
        ),
    ],
    *,
    layout: TargetChoice,
    format_options: Mapping[str, str],
    source: StoreSource,
    again: Again,
    cluster: Near,
    accept_loss: opt.AcceptExportLoss = False,
    quiet: opt.Quiet = False,
) -> None:
    """Write a store in another format, bit for bit.

    Example: gangsaw decompress scene.zarr copy.hdr --interleave bip
    """
    from gangsaw.tasks import api

    with (
        cluster.session() as client,
        progress_bar("decompress", quiet=quiet) as show,
    ):
        lost = api.decompress(
            store,
            target,
            options=layout.options(format_options),
            source=source.options(),
            client=client,
            overwrite=again.overwrite,
            resume=again.resume,
            accept_loss=accept_loss,
            on_progress=show,
        )
    if lost and not quiet:
        write_table(", ".join(target), [("left out", ", ".join(lost))])
