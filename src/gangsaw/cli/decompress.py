"""gangsaw decompress."""

from __future__ import annotations

from typing import Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import Near
from gangsaw.tasks.console.output import progress_bar, write_table
from gangsaw.tasks.console.panels import panels
from gangsaw.tasks.console.source import StoreSource
from gangsaw.tasks.formats import table


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
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help=f"{table.names(table.writable())}. (default: by suffix)",
            show_default=False,
        ),
    ] = None,
    interleave: Annotated[
        str | None,
        typer.Option(help="bsq, bil or bip. (default: as the source was)", show_default=False),
    ] = None,
    byte_order: Annotated[
        str | None,
        typer.Option(help="little or big. (default: as the source was)", show_default=False),
    ] = None,
    *,
    source: StoreSource,
    overwrite: opt.Overwrite = False,
    resume: opt.Resume = False,
    cluster: Near,
    quiet: opt.Quiet = False,
) -> None:
    """Write a store in another format, bit for bit.

    Example: gangsaw decompress scene.zarr copy.hdr --interleave bip
    """
    from gangsaw.tasks import api
    from gangsaw.tasks.formats.format import ExportOptions

    with (
        cluster.session() as client,
        progress_bar("decompress", quiet=quiet) as show,
    ):
        lost = api.decompress(
            store,
            target,
            options=ExportOptions(format_, interleave, byte_order),
            source=source.options(),
            client=client,
            overwrite=overwrite,
            resume=resume,
            on_progress=show,
        )
    if lost and not quiet:
        write_table(", ".join(target), [("left out", ", ".join(lost))])
