"""Command `gangsaw tcr count`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import Cluster
from gangsaw.tasks.console.output import (
    STOPPED,
    Interrupted,
    clock,
    print_table,
    progress_bars,
    show_plan,
    size,
    time_left,
    write_json,
)
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.tcr.commands import options as tcr

if TYPE_CHECKING:
    from gangsaw.tasks.engine.report.progress import Progress
    from gangsaw.tasks.tcr.germline import OnAmbiguous, OnUnknownAllele
    from gangsaw.tasks.tcr.store.setup import Setup
    from gangsaw.tasks.tcr.store.summary import CountSummary


@expand_panels
def count(
    repertoire: Annotated[
        list[str],
        typer.Argument(
            help="AIRR, VDJtools, immunoSEQ, 10x, MiXCR tables or Parquet, packed or not; or pipes."
        ),
    ],
    target: Annotated[str, typer.Argument(metavar="OUT.zarr", help="Zarr store to write.")],
    *,
    genes: tcr.CountedGenes,
    donors: tcr.Donors,
    paths: tcr.Paths,
    rows: tcr.RowOptions,
    store: tcr.CountsTarget,
    cluster: Cluster,
    dry_run: opt.DryRun = False,
    printed: tcr.Printed,
) -> None:
    """Count the recombination paths to every CDR3 of repertoires.

    For T cells, and for B cells without somatic hypermutation.

    Example: gangsaw tcr count donor1.tsv.gz donor2.tsv.gz paths.zarr --species human
    """
    from gangsaw.codecs.core.plugins.extras import extras_named
    from gangsaw.tasks.api import functions
    from gangsaw.tasks.formats.contract.pipes import copy_pipes_to_files, refuse_resume

    with extras_named():
        from gangsaw.tasks.tcr.repertoire.inputs import open_inputs
        from gangsaw.tasks.tcr.store import job
        from gangsaw.tasks.tcr.store.setup import CountChoice, PhaseProgress

    refuse_resume(repertoire, resume=store.resume)
    # workers of other machines can read files next to the target
    folder = Path(target).absolute().parent if cluster.is_named and "://" not in target else None
    with copy_pipes_to_files(repertoire, folder) as files:
        inputs = open_inputs(files, repertoire)
        setup = setup_of(genes, paths, rows, store, donors)
        if not rows.keep_going:
            job.check_inputs(inputs, setup)  # report mistakes before waiting for a cluster
        choice = CountChoice(rows.dropped, store.resume, store.overwrite, rows.keep_going)
        run = partial(job.count_repertoires, inputs, target, setup, choice=choice)
        if dry_run:
            show_plan(run, cluster, as_json=printed.as_json)
            return
        try:
            with cluster.session(run) as client, progress_bars(quiet=printed.no_bars) as bar:
                summary = run(
                    client=client,
                    options=functions.options_for(cluster.device, client),
                    progress=PhaseProgress(
                        on_read=bar and bar("read", _files, "waiting"),
                        on_count=bar and bar("count", references, "waiting"),
                    ),
                )
        except KeyboardInterrupt:
            raise Interrupted(STOPPED) from None
    if printed.as_json:
        write_json(summary_as_json(summary))
    else:
        print_table(f"{len(inputs)} files -> {summary.store}", tabulate_summary(summary))


def setup_of(
    genes: tcr.CountedGenes,
    paths: tcr.Paths,
    rows: tcr.RowOptions,
    stored: tcr.CountsTarget,
    donors: tcr.Donors,
) -> Setup:
    """Return the setup that the options describe."""
    from gangsaw.tasks.tcr.pgen.olga import pgen_model
    from gangsaw.tasks.tcr.store.setup import Setup, chunk_rows_of

    germline, model = genes.chosen(), paths.to_model(genes.max_p)
    return Setup(
        germline=germline,
        model=model,
        limits=rows.limits(),
        on_ambiguous=cast("OnAmbiguous", rows.ambiguous),  # the resolver rejects others
        on_unknown_allele=cast("OnUnknownAllele", rows.unknown_allele),
        columns=rows.columns(),
        chunk_rows=stored.chunk or chunk_rows_of(model),
        by_d=stored.by_d,
        pgen=pgen_model(germline.locus, genes.species) if stored.pgen else None,
        genotypes=donors.of(germline),
    )


def summary_as_json(summary: CountSummary) -> dict[str, object]:
    """Return the summary of a finished job as JSON values."""
    run = {**vars(summary.run), "references_per_second": summary.run.references_per_second}
    return {**vars(summary), "ratio": summary.ratio, "run": run}


def tabulate_summary(summary: CountSummary) -> list[tuple[str, str]]:
    """Return the summary of a finished job as rows of a table."""
    run = summary.run
    before = summary.kept - run.references
    share = summary.without_paths / summary.kept
    resumed = f", {before:,} of them counted by an earlier run" if before else ""
    dropped = [(f"  {reason}", f"{n:,}") for reason, n in summary.dropped.items()]
    return [
        ("rows read", f"{summary.rows:,} of {summary.samples} samples"),
        ("accepted", f"{summary.kept:,}{resumed}"),
        ("without paths", f"{summary.without_paths:,} of these, {share:.1%}"),
        ("dropped", f"{summary.rows - summary.kept:,}"),
        *dropped,
        ("listed in", summary.table),
        *(("not read", line) for line in summary.problems),
        *(("note", line) for line in summary.notes),
        ("bytes", f"{size(summary.raw_bytes)} -> {size(summary.stored_bytes)}"),
        ("time", f"{clock(run.seconds)}, {clock(run.read_seconds)} of it to read"),
        ("speed", f"{run.references_per_second:,.0f} references/s"),
    ]


def _files(state: Progress) -> str:
    return "  ".join([f"{state.done}/{state.total} files", *time_left(state)])


def references(state: Progress) -> str:
    """Return the finished and all references, the speed and the time left as progress text."""
    speed = (state.done - state.resumed) / state.seconds if state.seconds else 0.0
    parts = [f"{state.done:,}/{state.total:,} references"]
    if speed:
        parts.append(f"{speed:,.0f}/s")
    return "  ".join([*parts, *time_left(state)])
