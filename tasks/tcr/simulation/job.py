"""Simulated references, and reads of them, as files."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.parameters import require_choice
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.formats.atomic import whole_files
from gangsaw.tasks.tcr.genes.genes import open_genes
from gangsaw.tasks.tcr.repertoire import airr_rows
from gangsaw.tasks.tcr.simulation.olga import olga_model
from gangsaw.tasks.tcr.simulation.reads import ReadsMade, mates_of
from gangsaw.tasks.tcr.simulation.recombination import Recombination
from gangsaw.tasks.tcr.simulation.references import Wanted, random_references
from gangsaw.tasks.tcr.simulation.table import MORE, rows_of
from gangsaw.tasks.tcr.simulation.uniform import Uniform

OLGA = "olga"
KINDS = ("auto", OLGA, "uniform")
LEVEL = 1  # of gzip
Kind = Literal["auto", "olga", "uniform"]


@dataclass(frozen=True)
class ModelChoice:
    """Which model, and of which genes.

    Attributes
    ----------
    germline, locus, species, anchors : as of `open_germline`
    kind : "olga", "uniform", or "auto": olga's model where the germline is olga's
    max_n, max_p, erosion : of `Uniform`
    """

    germline: Sequence[str] = (OLGA,)
    locus: str = "TRB"
    species: str | None = None
    anchors: str | None = None
    kind: Kind = "auto"
    max_n: int = 10
    max_p: int = 4
    erosion: int = 10

    def model(self) -> Recombination:
        """Return the model.

        Raises
        ------
        BadParams : there is no such kind or germline; or olga's model is wanted of other genes
        """
        require_choice("kind", self.kind, KINDS)
        is_olga = list(self.germline) == [OLGA]
        if self.kind == OLGA and not is_olga:
            raise BadParams("olga's models have genes of their own: name no germline, or uniform")
        if is_olga and self.kind != "uniform":
            return olga_model(self.locus.upper(), self.species)
        genes = open_genes(
            self.germline, locus=self.locus, species=self.species, anchors=self.anchors
        )
        return Uniform(genes, self.max_n, self.max_p, self.erosion)


@dataclass(frozen=True)
class Simulated:
    """What was written.

    Attributes
    ----------
    target : the table
    model : its name
    references : rows of the table
    productive : of these
    reads : files of first and second mates
    pairs : how many they hold
    """

    target: str
    model: str
    references: int
    productive: int
    reads: tuple[str, ...] = ()
    pairs: int = 0


@dataclass(frozen=True)
class SimulateChoice:
    """What is written besides the table, and whether files may be replaced.

    Attributes
    ----------
    reads : files of first and second mates, or ()
    made : what the reads are like
    overwrite : replace existing files
    """

    reads: tuple[str, ...] = ()
    made: ReadsMade = field(default_factory=ReadsMade)
    overwrite: bool = False


def simulate(
    target: str | Path,
    source: ModelChoice,
    wanted: Wanted,
    choice: SimulateChoice | None = None,
    *,
    on_progress: OnProgress | None = None,
) -> Simulated:
    """Write random references as an AIRR table, and reads of them as FASTQ.

    Equal arguments write equal bytes, for the same versions of the genes, NumPy and zlib.

    Raises
    ------
    BadParams
        there is no such model; reads are wanted of genes that do not reach beyond the CDR3; a file
        exists and may not be replaced
    """
    choice, model = choice or SimulateChoice(), source.model()
    if choice.reads and not any(gene.frame for gene in model.ends.genes_v):
        raise BadParams(f"{model.name}: its V genes end at the CDR3; reads need whole genes")
    targets = [Path(target), *map(Path, choice.reads)]
    productive = made = pairs = 0
    meter = Meter(wanted.n, on_progress)
    with _files(targets, overwrite=choice.overwrite) as (table, *mates):
        table.write(airr_rows.header(MORE))
        for references in random_references(model, wanted):
            table.write(rows_of(references, source.locus.upper()))
            if mates:
                for texts in mates_of(references, choice.made, wanted.seed):
                    for file, text in zip(mates, texts, strict=True):
                        file.write(text)
                pairs += int(references.copies.sum())
            productive += int(references.productive.sum())
            made += len(references)
            meter.add(len(references), 0, 0)
    return Simulated(str(target), model.name, made, productive, tuple(choice.reads), pairs)


@contextmanager
def _files(targets: Sequence[Path], *, overwrite: bool) -> Iterator[list[IO[bytes]]]:
    """Open files that appear when they are whole, and hold no time of their making."""
    with whole_files(targets, overwrite=overwrite) as parts, ExitStack() as stack:
        opened = []
        for target, part in zip(targets, parts, strict=True):
            file: IO[bytes] = stack.enter_context(part.open("wb"))
            if target.suffix.lower() == ".gz":
                packed = gzip.GzipFile("", "wb", LEVEL, file, mtime=0)
                file = cast(IO[bytes], stack.enter_context(packed))
            opened.append(file)
        yield opened
