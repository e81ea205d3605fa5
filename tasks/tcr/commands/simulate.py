"""Command `gangsaw tcr simulate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import choice
from gangsaw.tasks.console.output import print_table, progress_bars, write_json
from gangsaw.tasks.console.panels import expand_panels
from gangsaw.tasks.tcr.commands import options as tcr
from gangsaw.tasks.tcr.commands.count import references

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.simulation.job import Kind, ModelChoice, SimulateChoice, Simulated


@dataclass(frozen=True)
class ModelOptions:
    """Options of the recombination model."""

    PANEL: ClassVar[str] = "Model"
    recombination: Annotated[
        str,
        choice(
            of=("auto", "olga", "uniform"),
            help=(
                "uniform: all genes, end lengths and n-nucleotides with equal "
                "probability. auto: olga's model if the germline is olga's."
            ),
        ),
    ] = "auto"
    most_n: Annotated[
        int,
        typer.Option(
            min=0, max=100, help="uniform: maximum number of n-nucleotides of a junction."
        ),
    ] = 10
    erosion: Annotated[
        int,
        typer.Option(
            min=0, max=1000, help="uniform: maximum number of nucleotides deleted from an end."
        ),
    ] = 10


@dataclass(frozen=True)
class ReadOptions:
    """Options of the simulated reads."""

    PANEL: ClassVar[str] = "Reads"
    reads: Annotated[
        str | None,
        typer.Option(
            metavar="PREFIX", help="Write PREFIX_1.fastq.gz and PREFIX_2.fastq.gz, the mates."
        ),
    ] = None
    depth: Annotated[
        float,
        typer.Option(
            min=1,
            help=(
                "Mean number of read pairs per reference; column duplicate_count has the "
                "true number."
            ),
        ),
    ] = 1.0
    read_length: Annotated[int, typer.Option(min=1, help="Length of a mate in bases.")] = 150
    insert: Annotated[
        int,
        typer.Option(min=1, help="Insert size in bases, up to the end of J."),
    ] = 250
    errors: Annotated[
        float, typer.Option(min=0, help="Mean substitution rate; qualities follow from it.")
    ] = 0.01

    def choice(self, overwrite: bool) -> SimulateChoice:
        """Return the options as `SimulateChoice` of the job."""
        from gangsaw.tasks.tcr.simulation.job import SimulateChoice
        from gangsaw.tasks.tcr.simulation.reads import ReadsMade

        names = () if self.reads is None else (f"{self.reads}_{i}.fastq.gz" for i in (1, 2))
        return SimulateChoice(
            tuple(names), ReadsMade(self.read_length, self.insert, self.errors), overwrite
        )


@expand_panels
def simulate(
    target: Annotated[
        Path, typer.Argument(metavar="OUT.tsv", help="AIRR table to write, .gz or not.")
    ],
    *,
    n: Annotated[
        int, typer.Option("--number", "-n", min=0, help="Number of references to simulate.")
    ] = 1000,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the random numbers; equal seeds give equal files.")
    ] = 0,
    unproductive: Annotated[
        bool,
        typer.Option(
            "--unproductive", help="Keep sequences that are out of frame or have a stop codon."
        ),
    ] = False,
    genes: tcr.CountedGenes,
    model: ModelOptions,
    reads: ReadOptions,
    overwrite: opt.Overwrite = False,
    printed: tcr.Printed,
) -> None:
    """Simulate references by a model of recombination, and reads of them with errors.

    The table has the true genes, n-nucleotides and palindromes. Read r17.3 is copy 3 of row r17.

    Example: gangsaw tcr simulate truth.tsv -n 10000 --species human --reads sim --depth 5
    """
    from gangsaw.codecs.core.plugins.extras import extras_named

    with extras_named():
        from gangsaw.tasks.tcr.simulation import job
        from gangsaw.tasks.tcr.simulation.references import Wanted
    wanted = Wanted(n, seed, reads.depth, unproductive)
    with progress_bars(quiet=printed.no_bars) as bar:
        done = job.simulate(
            target,
            _source(genes, model),
            wanted,
            reads.choice(overwrite),
            on_progress=bar and bar("simulate", references),
        )
    if printed.as_json:
        write_json(vars(done))
    else:
        print_table(done.target, _rows(done))


def _source(genes: tcr.CountedGenes, model: ModelOptions) -> ModelChoice:
    from gangsaw.tasks.tcr.simulation.job import ModelChoice

    return ModelChoice(
        tuple(genes.germline),
        genes.locus,
        genes.species,
        genes.anchors,
        cast("Kind", model.recombination),  # ModelChoice rejects others
        model.most_n,
        genes.max_p,
        model.erosion,
    )


def _rows(done: Simulated) -> list[tuple[str, str]]:
    rows = [
        ("model", done.model),
        ("references", f"{done.references:,}, {done.productive:,} of them productive"),
    ]
    return rows + (
        [("pairs of reads", f"{done.pairs:,}"), *(("", path) for path in done.reads)]
        if done.reads
        else []
    )
