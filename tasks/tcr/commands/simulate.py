"""Command `gangsaw tcr simulate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import choice
from gangsaw.tasks.console.output import print_table, progress_bars, write_json
from gangsaw.tasks.console.panels import panels
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
            help="uniform: each gene, change of an end and n-nucleotide alike; auto: olga's where "
            "the germline is olga's.",
        ),
    ] = "auto"
    most_n: Annotated[
        int, typer.Option(min=0, max=100, help="uniform: most n-nucleotides of a junction.")
    ] = 10
    erosion: Annotated[
        int, typer.Option(min=0, max=1000, help="uniform: most nucleotides that an end loses.")
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
        float, typer.Option(min=1, help="Mean pairs of a reference; duplicate_count has each.")
    ] = 1.0
    read_length: Annotated[int, typer.Option(min=1, help="Letters of a mate.")] = 150
    insert: Annotated[
        int,
        typer.Option(min=1, help="Letters from one mate's begin to the other's, up to J's end."),
    ] = 250
    errors: Annotated[
        float, typer.Option(min=0, help="Mean rate of substitutions, which qualities tell of.")
    ] = 0.01

    def choice(self, overwrite: bool) -> SimulateChoice:
        """Return the options as `SimulateChoice` of the job."""
        from gangsaw.tasks.tcr.simulation.job import SimulateChoice
        from gangsaw.tasks.tcr.simulation.reads import ReadsMade

        names = () if self.reads is None else (f"{self.reads}_{i}.fastq.gz" for i in (1, 2))
        return SimulateChoice(
            tuple(names), ReadsMade(self.read_length, self.insert, self.errors), overwrite
        )


@panels
def simulate(
    target: Annotated[
        Path, typer.Argument(metavar="OUT.tsv", help="AIRR table to write, .gz or not.")
    ],
    *,
    n: Annotated[int, typer.Option("--number", "-n", min=0, help="References to make.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Equal seeds write equal files.")] = 0,
    unproductive: Annotated[
        bool, typer.Option("--unproductive", help="Keep those out of frame and with stop codons.")
    ] = False,
    genes: tcr.CountedGenes,
    model: ModelOptions,
    reads: ReadOptions,
    overwrite: opt.Overwrite = False,
    printed: tcr.Printed,
) -> None:
    """Make random references by a model of recombination, and reads of them with errors.

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
