"""gangsaw decompress."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import NearOrDevice
from gangsaw.tasks.console.output import LastState, progress_bar, show_plan, write_json, write_table
from gangsaw.tasks.console.panels import panels
from gangsaw.tasks.console.parts import Again, Shown, StoreSource, TargetChoice
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
    cluster: NearOrDevice,
    accept_loss: opt.AcceptExportLoss = False,
    dry_run: opt.DryRun = False,
    shown: Shown,
) -> None:
    """Write a store in another format, bit for bit.

    Example: gangsaw decompress scene.zarr copy.hdr --interleave bip
    """
    from gangsaw.tasks import api

    job = partial(
        api.decompress,
        store,
        target,
        options=layout.options(format_options),
        source=source.options(),
        device=cluster.device,
        overwrite=again.overwrite,
        resume=again.resume,
        accept_loss=accept_loss,
    )
    if dry_run:
        show_plan(job, cluster, as_json=shown.as_json, targets=target)
        return
    with (
        cluster.session(job) as client,
        progress_bar("decompress", quiet=shown.no_bar) as show,
    ):
        last = LastState(show)
        lost = job(client=client, on_progress=last)
    if shown.as_json:
        write_json({"store": store, "targets": target, "left_out": lost, **last.figures()})
    elif lost and not shown.quiet:
        write_table(", ".join(target), [("left out", ", ".join(lost))])
