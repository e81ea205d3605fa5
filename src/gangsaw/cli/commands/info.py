"""gangsaw info."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import clock, print_table, ratio_rows, size, write_json

if TYPE_CHECKING:
    from gangsaw.tasks.jobs.figures.report import ArrayInfo
    from gangsaw.tasks.store.state.history import PastJob

SHOWN = 10  # entries of the history in the table; --json has all


def info(
    store: Annotated[str, typer.Argument(help="Zarr store to describe.")],
    plot: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Picture to write: bits per sample of each block, or a plot for the kind of data."
            )
        ),
    ] = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
) -> None:
    """Show the arrays of a store and their compression ratios, without decoding.

    Example: gangsaw info scene.zarr --plot scene.png
    """
    from gangsaw.tasks.api import functions
    from gangsaw.tasks.jobs.figures.contents import contents_of

    if plot is not None:
        from gangsaw.tasks.formats.exporting.atomic import check_target
        from gangsaw.tasks.jobs.figures.plots import check_picture

        check_target(plot, overwrite=overwrite)
        check_picture(plot)
    found = functions.info(store)
    contents = contents_of(found)
    if as_json:
        write_json(found.to_dict() | {content.name: content.figures for content in contents})
    else:
        for content in contents:
            print_table(f"{store}  {content.name}", content.rows)
        print_table(store, ratio_rows(found.sizes))
        for array in found.arrays:
            print_table(f"{store}  {array.name}", _rows(array))
        if found.history:
            print_table(
                f"{store}  history", [_history_row(entry) for entry in found.history[-SHOWN:]]
            )
    if plot is not None:
        from gangsaw.tasks.jobs.figures.plots import plot_store

        plot_store(found, plot)


def _history_row(entry: PastJob) -> tuple[str, str]:
    resumed = f", {entry.resumed} of them by earlier runs" if entry.resumed else ""
    workers = f"{entry.workers} worker{'s' if entry.workers != 1 else ''}"
    bytes_ = f"{size(entry.raw_bytes)} of samples -> {size(entry.stored_bytes)}"
    return (
        entry.began.replace("T", " ").removesuffix("+00:00"),
        f"{entry.command} {entry.outcome} in {clock(entry.seconds)} by {workers}: "
        f"{entry.chunks} chunks{resumed}, {bytes_}, gangsaw {entry.version}",
    )


def _rows(array: ArrayInfo) -> list[tuple[str, str]]:
    from gangsaw.tasks.jobs.sizes import StoreSizes

    shape = " x ".join(f"{n} {dim}" for n, dim in zip(array.shape, array.dims, strict=True))
    rows = [
        ("shape", f"{shape}, {array.dtype}"),
        ("chunks", f"{array.n_chunks} of {' x '.join(map(str, array.chunks))}"),
        ("codec", array.codec),
        *ratio_rows(StoreSizes(array.raw_bytes, array.stored_bytes)),
        ("bits/sample", f"{array.bits_per_sample:.3f}"),
        ("chunk bytes", f"{size(array.min_chunk)} to {size(array.max_chunk)}"),
    ]
    if array.missing is None:
        rows.insert(2, ("missing", "not looked for: gangsaw verify does"))
    elif array.missing:
        rows.insert(2, ("missing", f"{array.missing} chunks are not in the store"))
    if array.params:
        rows.insert(-4, ("parameters", ", ".join(f"{k}={v}" for k, v in array.summary.items())))
    if array.index_bytes:
        rows.append(("index", f"{array.index_percent:.3f} % of the bytes"))
    if array.lane_dim and not array.has_bits:
        rows.append((f"bits per {array.lane_dim}", "--plot draws them, and reads every index"))
    elif (bits := array.lane_bits) is not None:
        spread = f"{bits.min():.2f} to {bits.max():.2f}, median {median(bits.tolist()):.2f}"
        rows.append((f"bits per {array.lane_dim}", spread))
    return rows
