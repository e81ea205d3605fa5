"""gangsaw align."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import choice
from gangsaw.tasks.console.cluster import LocalWorkers
from gangsaw.tasks.console.output import clock, print_table, progress_bar, show_plan, write_json
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.console.parts import ExistingTarget, OutputOptions
from gangsaw.tasks.formats.contract.pipes import is_stdout

if TYPE_CHECKING:
    from gangsaw.tasks.genomics.align.job.job import AlignSummary
    from gangsaw.tasks.genomics.align.search.params import SearchParams

HELP_GROUP = "Sequences"  # of the command in `gangsaw --help`
PRESETS = {
    "short": {"match": 1, "mismatch": -4, "gap_open": 6, "gap_extend": 1, "min_score": 30},
    "long": {"mismatch": -4, "gap_open": 4, "min_score": 80},
}  # scores of BWA-MEM, and of minimap2 for long reads
PAIRS = ("no", "files", "interleaved")
FORMATS = ("paf", "sam", "bam", "blast6")


@dataclass(frozen=True)
class ScoreOptions:
    """Command-line options for the scores of bases and gaps.

    Unusual scores come without e-values.
    """

    PANEL: ClassVar[str] = "Scores"
    match: Annotated[int, typer.Option(help="Score of two equal bases.")] = 2
    mismatch: Annotated[int, typer.Option(help="Score of two different bases, 0 or less.")] = -3
    gap_open: Annotated[int, typer.Option(help="Cost to open a gap, in addition to its bases.")] = 5
    gap_extend: Annotated[int, typer.Option(help="Cost of each base of a gap.")] = 2


@dataclass(frozen=True)
class SeedOptions:
    """Command-line options for the choice of k-mers as seeds."""

    PANEL: ClassVar[str] = "Seeds"
    k: Annotated[
        int, typer.Option("-k", "--k", help="Length of a seed in bases; odd, 7 to 15.")
    ] = 15
    w: Annotated[
        int,
        typer.Option(
            "-w",
            "--w",
            help="Window of minimizers: number of consecutive seeds of which one is used.",
        ),
    ] = 10
    max_places: Annotated[
        int, typer.Option(help="Ignore seeds with more occurrences in the genome.")
    ] = 512


@dataclass(frozen=True)
class Reported:
    """Command-line options for the selection of hits and the format of their lines."""

    PANEL: ClassVar[str] = "Hits"
    min_score: Annotated[int, typer.Option(help="Minimum alignment score.")] = 40
    evalue: Annotated[
        float,
        typer.Option(
            help="Maximum number of alignments with such a score expected by chance (E-value)."
        ),
    ] = 10.0
    secondary: Annotated[
        int,
        typer.Option(
            "--secondary",
            "-N",
            help="Maximum number of secondary alignments of each part of a query.",
        ),
    ] = 5
    ratio: Annotated[
        int,
        typer.Option(help="Minimum score of secondary alignments, in percent of the best score."),
    ] = 80
    max_hits: Annotated[
        int, typer.Option(help="Maximum number of alignments of a query; 0 for all.")
    ] = 0
    eqx: Annotated[
        bool, typer.Option("--eqx", help="Write = and X in CIGAR strings instead of M.")
    ] = False
    read_group: Annotated[
        str,
        typer.Option(
            "--read-group",
            "-R",
            help="Read group of SAM and BAM, such as '@RG\\tID:x\\tSM:y'.",
            show_default=False,
        ),
    ] = ""


@dataclass(frozen=True)
class AlignInputs:
    """Command-line options for queries, genome index and target."""

    PANEL: ClassVar[str] = "Queries, genome and target"
    format: Annotated[
        str,
        choice(of=FORMATS, help="Format of the target.", default="by suffix, paf"),
    ] = ""
    keep_index: Annotated[
        str,
        choice(
            of=("yes", "no"),
            help="Store the seeds of the genome next to its store, for later jobs.",
        ),
    ] = "yes"
    preset: Annotated[
        str,
        choice(
            of=tuple(PRESETS),
            help="Scores and minimum score of BWA-MEM (short reads) or minimap2 (long reads); "
            "other options override it.",
            default="none",
        ),
    ] = ""
    pairs: Annotated[
        str,
        choice(
            of=PAIRS,
            help="Layout of read pairs: two files, or alternating mates.",
            default="of stores",
        ),
    ] = ""


@expand_panels
def align(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="QUERIES... GENOME.zarr OUT",
            help=(
                "Queries: FASTA or FASTQ, compressed or not, - for standard input, or "
                "stores of reads or genomes. Then the store of a genome, and the file to "
                "write: .paf, .sam, .bam or .tsv, with .gz if compressed, or - for "
                "standard output."
            ),
        ),
    ],
    *,
    context: typer.Context,
    inputs: AlignInputs,
    reported: Reported,
    seeds: SeedOptions,
    scores: ScoreOptions,
    cluster: LocalWorkers,
    again: ExistingTarget,
    dry_run: opt.DryRun = False,
    shown: OutputOptions,
) -> None:
    """Align queries with a stored genome.

    Example: gangsaw align reads.fastq.gz genome.zarr reads.paf
    """
    if len(paths) < 3:
        raise BadParams("name queries, the store of a genome, and the target (see --help)")
    from gangsaw.tasks.genomics.align.job.job import AlignChoice, align_job

    *queries, genome, target = paths
    params = _params(reported, seeds, scores, inputs.pairs, _preset(context, inputs.preset))
    keep = inputs.keep_index == "yes"
    choice = AlignChoice(inputs.format, again.resume, again.overwrite, keep_index=keep)
    job = partial(align_job, queries, genome, target, params, choice=choice)
    if dry_run:
        show_plan(job, cluster, as_json=shown.as_json)
        return
    with cluster.session(job) as client, progress_bar("align", quiet=shown.no_bar) as show:
        done = job(client=client, on_progress=show)
    if is_stdout(target):
        return
    if shown.as_json:
        write_json(vars(done))
    else:
        print_table(target, _rows(done))


def _preset(context: typer.Context, name: str) -> dict[str, int]:
    """Return the option values of a preset, without options that the user gave."""
    if name and name not in PRESETS:
        raise none_of("--preset", PRESETS, name)
    own = PRESETS.get(name, {}).items()
    return {key: value for key, value in own if not _is_named(context, key)}


def _is_named(context: typer.Context, name: str) -> bool:
    """Return True if the user gave an option; typer bundles click, so names are compared."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _params(
    reported: Reported,
    seeds: SeedOptions,
    scores: ScoreOptions,
    pairs: str,
    preset: dict[str, int],
) -> SearchParams:
    from gangsaw.tasks.genomics.align.search.params import SearchParams
    from gangsaw.tasks.genomics.align.sets.scores import Scores

    own = vars(scores) | vars(seeds) | vars(reported) | preset
    costs = Scores(*(own.pop(name) for name in vars(scores)))
    return SearchParams(costs, **own, pairs=pairs)


def _rows(done: AlignSummary) -> list[tuple[str, str]]:
    share = 100 * done.aligned / max(1, done.queries)
    return [
        ("queries", f"{done.queries:,} ({done.letters:,} bases)"),
        ("aligned", f"{done.aligned:,} ({share:.2f} %)"),
        ("hits", f"{done.hits:,} ({done.format})"),
        ("index", done.index),
        ("seconds", clock(done.seconds)),
    ]
