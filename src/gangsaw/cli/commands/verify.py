"""gangsaw verify."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.console.cluster import LocalOrDeviceWorkers
from gangsaw.tasks.console.output import print_table, progress_bar, ratio_rows, size, write_json
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import AnySource, OutputOptions
from gangsaw.tasks.console.table_options import with_source_options

if TYPE_CHECKING:
    from distributed import Client

    from gangsaw.tasks.engine.report.progress import OnProgress
    from gangsaw.tasks.formats.contract.format import SourceOptions
    from gangsaw.tasks.jobs.verification.verify import Report

SHOWN = 20  # problems in the table; --json has all


@with_source_options
@expand_panels
def verify(
    store: Annotated[str, typer.Argument(help="Zarr store to check.")],
    against: Annotated[
        list[str] | None,
        typer.Option(
            help="Source that the store must equal, bit for bit; repeat it for each path."
        ),
    ] = None,
    *,
    adopt: Annotated[
        bool,
        typer.Option(
            "--adopt", help="Record chunks and arrays that another program added, if all is right."
        ),
    ] = False,
    cluster: LocalOrDeviceWorkers,
    source: AnySource,
    format_options: Mapping[str, str],
    shown: OutputOptions,
) -> None:
    """Check that every chunk is present and decodable; compare with the source.

    Example: gangsaw verify scene.zarr --against scene.hdr
    """
    from gangsaw.tasks.formats.contract.opening import without_pipes

    options = source.options(format_options)
    with without_pipes(against or (), options) as ready:
        report = _report(store, ready, options, cluster, shown, adopt=adopt)
    if shown.as_json:
        sizes = {} if report.sizes is None else report.sizes.to_dict()
        write_json({**vars(report), "sizes": sizes, "ok": report.ok})
    else:
        print_table(
            report.store,
            [
                *_rows(report, ", ".join(against or ())),
                *(("note", note) for note in report.notes),
            ],
        )
    if not report.ok:
        count = f" (the first of {len(report.problems)} problems)" if report.problems[1:] else ""
        raise JobFailed(f"{report.problems[0]}{count}")


def _report(
    store: str,
    against: list[str],
    options: SourceOptions,
    cluster: LocalOrDeviceWorkers,
    shown: OutputOptions,
    *,
    adopt: bool,
) -> Report:
    """Verify a store on the cluster or device of the options."""
    from gangsaw.tasks.api import functions

    def job(
        device: str = "cpu", client: Client | None = None, on_progress: OnProgress | None = None
    ) -> Report:
        return functions.verify(
            store,
            against=against or None,
            adopt=adopt,
            device=device,
            client=client,
            storage_options=None,
            on_progress=on_progress,
            **options.keywords(),
        )

    with (
        cluster.session(job) as client,
        progress_bar("verify", quiet=shown.no_bar) as show,
    ):
        return job(cluster.device, client, show)


def _rows(report: Report, against: str) -> list[tuple[str, str]]:
    verdict = "every chunk is correct"
    if problems := report.problems:
        verdict = f"{len(problems)} problem{'s' if problems[1:] else ''}"
    elif against:
        verdict += f", every sample equals {against}"
    readers = [("read by", ", ".join(report.readers))] if report.readers else []
    listed = [("problem", line) for line in problems[:SHOWN]]
    chunks = f"{report.chunks}, {size(report.stored_bytes)}"
    if problems:  # the bytes of damaged chunks are unknown
        share = f", {size(report.stored_bytes)} in correct ones" if report.stored_bytes else ""
        chunks = f"{report.chunks}{share}"
    sizes = [] if report.sizes is None else ratio_rows(report.sizes)
    return [("chunks", chunks), *sizes, *readers, ("verdict", verdict), *listed]
