"""gangsaw tcr count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import Cluster
from gangsaw.tasks.console.output import (
    STOPPED,
    Interrupted,
    clock,
    progress_bars,
    size,
    time_left,
    write_json,
    write_table,
)
from gangsaw.tasks.console.panels import panels
from gangsaw.tasks.tcr.commands import options as tcr

if TYPE_CHECKING:
    from gangsaw.tasks.engine.progress import Progress
    from gangsaw.tasks.tcr.germline import Germline
    from gangsaw.tasks.tcr.store.setup import Setup
    from gangsaw.tasks.tcr.store.summary import CountSummary


@panels
def count(
    repertoire: Annotated[
        list[str],
        typer.Argument(help="AIRR, VDJtools, immunoSEQ, 10x, MiXCR tables or Parquet; .gz or not."),
    ],
    target: Annotated[str, typer.Argument(metavar="OUT.zarr", help="Zarr store to write.")],
    *,
    germline: tcr.Source = ["olga"],  # noqa: B006  typer copies it
    genes: tcr.Genes,
    paths: tcr.Paths,
    rows: tcr.RowOptions,
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1, help="References of a chunk of the store. (default: 16384)", show_default=False
        ),
    ] = None,
    resume: opt.Resume = False,
    overwrite: opt.Overwrite = False,
    cluster: Cluster,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Count the recombination paths that lead to every CDR3 of some repertoires.

    Example: gangsaw tcr count donor1.tsv.gz donor2.tsv.gz paths.zarr --species human
    """
    from gangsaw.tasks import api
    from gangsaw.tasks.tcr.extra import extra_needed

    with extra_needed():
        from gangsaw.tasks.tcr.repertoire.inputs import open_inputs
        from gangsaw.tasks.tcr.store import job

    inputs = open_inputs(repertoire)
    setup = setup_of(genes.of(germline), genes, paths, rows, chunk)
    if not rows.keep_going:
        job.check_inputs(inputs, setup)  # mistakes should not wait for a cluster
    try:
        with cluster.session() as client, progress_bars(quiet=quiet or as_json) as bar:
            summary = job.count_repertoires(
                inputs,
                target,
                setup,
                table=rows.dropped,
                client=client,
                options=api.options_for(cluster.device, client),
                resume=resume,
                overwrite=overwrite,
                keep_going=rows.keep_going,
                on_read=bar and bar("read", _files, "waiting"),
                on_count=bar and bar("count", references, "waiting"),
            )
    except KeyboardInterrupt:
        raise Interrupted(STOPPED) from None
    if as_json:
        write_json(figures(summary))
    else:
        write_table(f"{len(inputs)} files -> {summary.store}", table_of(summary))


def setup_of(
    germline: Germline, genes: tcr.Genes, paths: tcr.Paths, rows: tcr.RowOptions, chunk: int | None
) -> Setup:
    """Return the values of the panels, and the store's references in a chunk."""
    from gangsaw.tasks.tcr.store.setup import CHUNK_ROWS, Setup

    return Setup(
        germline=germline,
        model=paths.counted(genes.max_p),
        limits=rows.limits(),
        on_ambiguous=rows.ambiguous,  # type: ignore[arg-type]
        on_unknown_allele=rows.unknown_allele,  # type: ignore[arg-type]
        columns=rows.columns(),
        chunk_rows=chunk or CHUNK_ROWS,
    )


def figures(summary: CountSummary) -> dict[str, object]:
    """Return the figures of a finished job as JSON values."""
    run = {**vars(summary.run), "references_per_second": summary.run.references_per_second}
    return {**vars(summary), "ratio": summary.ratio, "run": run}


def table_of(summary: CountSummary) -> list[tuple[str, str]]:
    """Return the figures of a finished job as a table."""
    run = summary.run
    before = summary.kept - run.references
    resumed = f", {before:,} of them counted by an earlier run" if before else ""
    dropped = [(f"  {reason}", f"{n:,}") for reason, n in summary.dropped.items()]
    return [
        ("rows read", f"{summary.rows:,} of {summary.samples} samples"),
        ("kept", f"{summary.kept:,}{resumed}"),
        ("dropped", f"{summary.rows - summary.kept:,}, listed in {summary.table}"),
        *dropped,
        *(("not read", line) for line in summary.problems),
        ("bytes", f"{size(summary.raw_bytes)} -> {size(summary.stored_bytes)}"),
        ("time", f"{clock(run.seconds)}, {clock(run.read_seconds)} of it to read"),
        ("speed", f"{run.references_per_second:,.0f} references/s"),
    ]


def _files(state: Progress) -> str:
    return "  ".join([f"{state.done}/{state.total} files", *time_left(state)])


def references(state: Progress) -> str:
    """Return in words how many references are done."""
    speed = (state.done - state.resumed) / state.seconds if state.seconds else 0.0
    parts = [f"{state.done:,}/{state.total:,} references"]
    if speed:
        parts.append(f"{speed:,.0f}/s")
    return "  ".join([*parts, *time_left(state)])
