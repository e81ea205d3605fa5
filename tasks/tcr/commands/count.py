"""gangsaw tcr count."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
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
from gangsaw.tasks.tcr.commands import options as tcr

if TYPE_CHECKING:
    from gangsaw.tasks.engine.progress import Progress
    from gangsaw.tasks.tcr.summary import Summary

ROWS, MODEL = "Rows", "Model"


def count(
    repertoire: Annotated[
        list[str],
        typer.Argument(help="AIRR, VDJtools, immunoSEQ, 10x, MiXCR tables or Parquet; .gz or not."),
    ],
    target: Annotated[str, typer.Argument(metavar="OUT.zarr", help="Zarr store to write.")],
    germline: tcr.Source = ["olga"],  # noqa: B006  typer copies it
    locus: tcr.Locus = "TRB",
    species: tcr.Species = None,
    anchors: tcr.Anchors = None,
    model: Annotated[str, typer.Option(help="dp1, dp2 or both.", rich_help_panel=MODEL)] = "both",
    strands: Annotated[
        int,
        typer.Option(
            min=1,
            max=2,
            help="dp2: strands of a palindrome that can be cut.",
            rich_help_panel=MODEL,
        ),
    ] = 1,
    max_p: tcr.MaxP = 4,
    max_n: Annotated[
        int,
        typer.Option(
            min=0,
            max=10,
            help="Most n-nucleotides: of each junction in dp2, of all together in dp1.",
            rich_help_panel=MODEL,
        ),
    ] = 10,
    d_segments: Annotated[
        int,
        typer.Option(
            min=1, max=2, help="D genes in a row; 2 is V-D-D-J, dp2 only.", rich_help_panel=MODEL
        ),
    ] = 1,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="ROLE=NAME, repeatable: which column holds junction (with the codons of Cys and "
            "Phe/Trp), cdr3 (without), v, j, copies, id, sample, locus or productive, where it is "
            "not as the format has it.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    sample_column: Annotated[
        str | None,
        typer.Option(
            help="Column that names the sample of each row. (default: the file is the sample)",
            show_default=False,
            rich_help_panel=ROWS,
        ),
    ] = None,
    ambiguous: Annotated[
        str,
        typer.Option(
            help="drop or first: a call of several genes whose CDR3 parts differ.",
            rich_help_panel=ROWS,
        ),
    ] = "drop",
    unknown_allele: Annotated[
        str,
        typer.Option(
            help="drop or gene: an allele that the germline lacks, of a gene that it has.",
            rich_help_panel=ROWS,
        ),
    ] = "drop",
    max_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Longest CDR3 to keep, in nucleotides. (default: all that can be counted)",
            show_default=False,
            rich_help_panel=ROWS,
        ),
    ] = None,
    keep_out_of_frame: Annotated[
        bool,
        typer.Option(
            "--keep-out-of-frame",
            help="Keep rows whose length is no multiple of three: counting needs no frame.",
            rich_help_panel=ROWS,
        ),
    ] = False,
    keep_unproductive: Annotated[
        bool,
        typer.Option(
            "--keep-unproductive",
            help="Keep rows with a stop codon, or that their file calls unproductive.",
            rich_help_panel=ROWS,
        ),
    ] = False,
    codons: Annotated[
        str,
        typer.Option(
            help="cys, both or any: codons that a junction must have to be one.",
            rich_help_panel=ROWS,
        ),
    ] = "cys",
    dropped: Annotated[
        Path | None,
        typer.Option(
            help="Table of dropped rows to write. (default: OUT.dropped.tsv)",
            show_default=False,
            rich_help_panel=ROWS,
        ),
    ] = None,
    keep_going: Annotated[
        bool,
        typer.Option(
            "--keep-going",
            help="Leave files out that cannot be read, and the rest of those that are damaged.",
            rich_help_panel=ROWS,
        ),
    ] = False,
    chunk: Annotated[
        int | None,
        typer.Option(
            min=1, help="References of a chunk of the store. (default: 16384)", show_default=False
        ),
    ] = None,
    resume: opt.Resume = False,
    overwrite: opt.Overwrite = False,
    workers: opt.Workers = None,
    threads: opt.Threads = 0,
    scheduler: opt.Scheduler = "",
    device: opt.Device = "cpu",
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Count the recombination paths that lead to every CDR3 of some repertoires.

    Example: gangsaw tcr count donor1.tsv.gz donor2.tsv.gz paths.zarr --species human
    """
    from gangsaw.tasks import face
    from gangsaw.tasks.tcr.extra import extra_needed

    with extra_needed():
        from gangsaw.tasks.tcr import job
        from gangsaw.tasks.tcr.clean import Limits
        from gangsaw.tasks.tcr.inputs import open_inputs
        from gangsaw.tasks.tcr.model import MAX_LENGTH, Model
        from gangsaw.tasks.tcr.setup import CHUNK_ROWS, Setup

    inputs = open_inputs(repertoire)
    setup = Setup(
        germline=tcr.germline_of(germline, locus, species, anchors, max_p),
        model=Model(model, strands, max_p, max_n, d_segments),  # type: ignore[arg-type]
        limits=Limits(max_length or MAX_LENGTH, keep_out_of_frame, keep_unproductive, codons),  # type: ignore[arg-type]
        on_ambiguous=ambiguous,  # type: ignore[arg-type]
        on_unknown_allele=unknown_allele,  # type: ignore[arg-type]
        columns=columns_of(column, sample_column),
        chunk_rows=chunk or CHUNK_ROWS,
    )
    if not keep_going:
        job.check_inputs(inputs, setup)  # mistakes should not wait for a cluster
    try:
        with (
            opt.session(workers, threads, scheduler, device) as client,
            progress_bars(quiet=quiet or as_json) as bar,
        ):
            summary = job.count(
                inputs,
                target,
                setup,
                table=dropped,
                client=client,
                options=face.options_for(device, client),
                resume=resume,
                overwrite=overwrite,
                keep_going=keep_going,
                on_read=bar and bar("read", _files, "waiting"),
                on_count=bar and bar("count", references, "waiting"),
            )
    except KeyboardInterrupt:
        raise Interrupted(STOPPED) from None
    if as_json:
        write_json(figures(summary))
    else:
        write_table(f"{len(inputs)} files -> {summary.store}", rows(summary))


def columns_of(pairs: list[str] | None, sample: str | None) -> tuple[tuple[str, str], ...]:
    """Return the columns of "junction=cdr3nt", and that of the sample."""
    found = {}
    for pair in [*(pairs or ()), *([] if sample is None else [f"sample={sample}"])]:
        role, equals, name = pair.partition("=")
        if not (role and equals and name):
            raise BadParams(f"--column must be ROLE=NAME such as junction=cdr3nt, got {pair!r}")
        found[role.strip()] = name.strip()
    return tuple(sorted(found.items()))


def figures(summary: Summary) -> dict[str, object]:
    """Return the figures of a finished job as JSON holds them."""
    run = {**vars(summary.run), "references_per_second": summary.run.references_per_second}
    return {**vars(summary), "ratio": summary.ratio, "run": run}


def rows(summary: Summary) -> list[tuple[str, str]]:
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
