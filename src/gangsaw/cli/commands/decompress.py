"""gangsaw decompress."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import LocalOrDeviceWorkers
from gangsaw.tasks.console.output import (
    clock,
    print_table,
    progress_bar,
    rate,
    ratio_rows,
    show_plan,
    size,
    write_json,
)
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import ExistingTarget, OutputOptions, StoreSource, TargetChoice
from gangsaw.tasks.console.table_options import with_export_options
from gangsaw.tasks.formats.contract import table
from gangsaw.tasks.formats.contract.pipes import is_stdout
from gangsaw.tasks.store.damage import DamagedStore

if TYPE_CHECKING:
    from gangsaw.tasks.api.exporting import ExportResult

MOST_DAMAGE = 20  # damaged blocks, and ranges of records, that are listed; --json has all


@with_export_options
@expand_panels
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
    again: ExistingTarget,
    cluster: LocalOrDeviceWorkers,
    accept_loss: opt.AcceptExportLoss = False,
    dry_run: opt.DryRun = False,
    shown: OutputOptions,
) -> None:
    """Write a store in another format, bit for bit.

    Example: gangsaw decompress scene.zarr copy.hdr --interleave bip
    """
    from gangsaw.tasks.api import functions

    job = partial(
        functions.decompress,
        store,
        target,
        options=layout.options(format_options),
        source=source.options(),
        device=cluster.device,
        overwrite=again.overwrite,
        resume=again.resume,
        accept_loss=accept_loss,
        damaged=layout.damaged,
        damaged_value=layout.damaged_value,
    )
    if dry_run:
        show_plan(job, cluster, as_json=shown.as_json, targets=target)
        return
    to_stdout = any(map(is_stdout, target))
    try:
        with (
            cluster.session(job) as client,
            progress_bar("decompress", quiet=shown.no_bar) as show,
        ):
            done = job(client=client, on_progress=show)
    except DamagedStore as error:
        if len(error.blocks) == 1 and not shown.as_json:
            raise  # one line says all
        _list_damage(error, store, target, shown, to_stdout=to_stdout)
        raise JobFailed(error.headline) from error
    if to_stdout:  # it holds what was written
        sys.stderr.writelines(f"{title}: {line}\n" for title, line in _damage_rows(done))
    elif shown.as_json:
        write_json({"store": store, "targets": target, **_export_figures(done)})
    else:
        print_table(f"{store} -> {', '.join(target)}", _export_rows(done))
    if done.is_incomplete:
        raise JobFailed(_incomplete(done))


def _list_damage(
    error: DamagedStore, store: str, target: list[str], shown: OutputOptions, *, to_stdout: bool
) -> None:
    """Print all damaged blocks of a store that could not be written in another format."""
    if to_stdout:
        sys.stderr.writelines(f"damaged: {block}\n" for block in error.blocks)
    elif shown.as_json:
        blocks = [asdict(block) for block in error.blocks]
        write_json({"store": store, "targets": target, "damaged": blocks})
    else:
        print_table(store, [("damaged", str(block)) for block in error.blocks])


def _export_rows(done: ExportResult) -> list[tuple[str, str]]:
    """Return the figures of a finished export as table rows."""
    return [
        *ratio_rows(done),
        *([("written", size(done.target_bytes))] if done.target_bytes else []),
        ("chunks", f"{done.chunks}"),
        ("throughput", f"{rate(done.throughput)} in {clock(done.seconds)}"),
        *(("left out", item) for item in done),
        *_damage_rows(done),
    ]


def _damage_rows(done: ExportResult) -> Iterator[tuple[str, str]]:
    """Yield table rows on the damaged blocks and on what the export has in their place."""
    for title, found in (("damaged", done.damaged), ("skipped", done.skipped)):
        yield from ((title, str(one)) for one in found[:MOST_DAMAGE])
        if found[MOST_DAMAGE:]:
            yield title, f"{len(found) - MOST_DAMAGE} more; --json lists all"


def _export_figures(done: ExportResult) -> dict[str, object]:
    """Return the figures of a finished export as JSON values."""
    names = ("chunks", "samples", "raw_bytes", "stored_bytes", "source_bytes", "target_bytes")
    derived = ("seconds", "ratio", "ratio_base", "throughput")
    return {
        "left_out": list(done),
        **{name: getattr(done, name) for name in (*names, *derived)},
        "damaged": [asdict(one) for one in done.damaged],
        "skipped": [asdict(one) for one in done.skipped],
    }


def _incomplete(done: ExportResult) -> str:
    """Return the last line of output for an export of a damaged store."""
    n = len(done.damaged)
    blocks = f"{n} damaged block{'s' if n != 1 else ''}"
    records = sum(one.last - one.first + 1 for one in done.skipped)
    unit = done.skipped[0].unit.rpartition(" ")[2] if done.skipped else ""
    what = f"{records} {unit}{'s' if records != 1 else ''} left out" if records else "filled"
    return f"{', '.join(done.targets)} is incomplete: {blocks} in the store, {what}"
