"""Command `gangsaw tcr annotate`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.cluster import LocalWorkers
from gangsaw.tasks.console.output import (
    STOPPED,
    Interrupted,
    clock,
    print_table,
    progress_bars,
    show_plan,
    write_json,
)
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import ExistingTarget
from gangsaw.tasks.tcr.commands import options as tcr

if TYPE_CHECKING:
    from gangsaw.tasks.engine.report.progress import Progress
    from gangsaw.tasks.tcr.annotation.job import AnnotateChoice, AnnotateSummary


@dataclass(frozen=True)
class Merging:
    """Options of error merging and of filtering."""

    PANEL: ClassVar[str] = "Errors"
    max_errors: Annotated[
        int,
        typer.Option(
            min=0,
            max=8,
            help=(
                "Maximum number of sequencing errors in a CDR3 that is merged with "
                "another one; 0 merges none."
            ),
        ),
    ] = 2
    count_ratio: Annotated[
        float,
        typer.Option(
            min=1,
            help=(
                "Ratio of read counts above which a similar CDR3 with high qualities is "
                "merged as an error."
            ),
        ),
    ] = 10.0
    min_quality: Annotated[
        int,
        typer.Option(
            min=0, max=93, help="Minimum Phred quality of each base of a CDR3, in its best read."
        ),
    ] = 20
    tolerated: Annotated[
        float,
        typer.Option(min=0, max=0.5, help="Maximum share of mismatches outside the CDR3."),
    ] = 0.1
    unproductive: Annotated[
        bool,
        typer.Option(
            "--unproductive", help="Keep sequences that are out of frame or have a stop codon."
        ),
    ] = False

    def choice(self, *, interleaved: bool, again: ExistingTarget) -> AnnotateChoice:
        """Return the options as `AnnotateChoice` of the job."""
        from gangsaw.tasks.tcr.annotation.job import AnnotateChoice
        from gangsaw.tasks.tcr.annotation.nucleotypes import MergeRule

        rule = MergeRule(self.max_errors, self.count_ratio, self.min_quality)
        own = (self.tolerated, self.unproductive, interleaved)
        return AnnotateChoice(rule, *own, again.overwrite, again.resume)


@expand_panels
def annotate(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="READS... OUT.tsv",
            help="FASTQ, of mates two files, packed or not, or a store of reads; the AIRR table to "
            "write.",
        ),
    ],
    *,
    interleaved: Annotated[
        bool, typer.Option("--interleaved", help="Mates alternate in the input file.")
    ] = False,
    genes: tcr.CountedGenes,
    merging: Merging,
    cluster: LocalWorkers,
    again: ExistingTarget,
    dry_run: opt.DryRun = False,
    printed: tcr.Printed,
) -> None:
    """Find V, J and CDR3 of reads, and count the nucleotypes.

    Candidates of new alleles are listed in OUT.tsv.alleles.tsv.

    Example: gangsaw tcr annotate a_1.fastq.gz a_2.fastq.gz a.tsv --species human --chain TRB
    """
    if len(paths) < 2:
        raise BadParams("name reads and then the table to write (see --help)")
    from gangsaw.codecs.core.plugins.extras import extras_named

    with extras_named():
        from gangsaw.tasks.tcr.annotation.job import annotate as job
        from gangsaw.tasks.tcr.germline.genes.genes import open_genes
    *reads, target = paths
    own = open_genes(
        genes.germline, locus=genes.locus, species=genes.species, anchors=genes.anchors
    )
    choice = merging.choice(interleaved=interleaved, again=again)
    run = partial(job, reads, target, own, choice)
    if dry_run:
        show_plan(run, cluster, as_json=printed.as_json)
        return
    try:
        with cluster.session(run) as client, progress_bars(quiet=printed.no_bars) as bar:
            done = run(client=client, on_progress=bar and bar("annotate", _reads))
    except KeyboardInterrupt:
        raise Interrupted(STOPPED) from None
    if printed.as_json:
        write_json(vars(done))
    else:
        print_table(done.target, _rows(done))


def _reads(state: Progress) -> str:
    speed = f"  {state.done / state.seconds:,.0f}/s" if state.seconds else ""
    return f"{state.done:,} reads{speed}"


def _rows(done: AnnotateSummary) -> list[tuple[str, str]]:
    culled = [(f"  {reason}", f"{n:,}") for reason, n in sorted(done.culled.items())]
    return [
        ("reads", f"{done.reads:,}, mates as one"),
        ("annotated", f"{done.annotated:,}, {done.merged:,} of them with errors in the CDR3"),
        ("nucleotypes", f"{done.nucleotypes:,}"),
        ("culled", f"{done.reads - done.annotated:,}"),
        *culled,
        ("new alleles", f"{done.candidates:,} candidate substitutions, in {done.alleles}"),
        *(("note", note) for note in done.notes),
        ("time", f"{clock(done.seconds)}, {done.reads / max(done.seconds, 1e-9):,.0f} reads/s"),
    ]
