"""Simulation job: writes references, and reads of them, as files."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Literal, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import require_choice
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.formats.exporting.atomic import write_whole_files
from gangsaw.tasks.tcr.germline.genes.genes import open_genes
from gangsaw.tasks.tcr.repertoire import airr_rows
from gangsaw.tasks.tcr.simulation.olga import olga_model
from gangsaw.tasks.tcr.simulation.reads import ReadsMade, mates_of
from gangsaw.tasks.tcr.simulation.recombination import Recombination
from gangsaw.tasks.tcr.simulation.references import Wanted, random_references
from gangsaw.tasks.tcr.simulation.table import MORE, build_reference_rows
from gangsaw.tasks.tcr.simulation.uniform import Uniform

OLGA = "olga"
KINDS = ("auto", OLGA, "uniform")
LEVEL = 1  # gzip level
Kind = Literal["auto", "olga", "uniform"]


@dataclass(frozen=True)
class ModelChoice:
    """Model of recombination and its genes.

    Parameters
    ----------
    germline : sequence of str, default ("olga",)
        Source of the genes, as for `open_germline`.
    locus : str, default "TRB"
        Locus of the genes, as for `open_germline`.
    species : str, optional
        Species of the genes, as for `open_germline`.
    anchors : str, optional
        Table of anchors, as for `open_germline`.
    kind : {"auto", "olga", "uniform"}, default "auto"
        "olga" is a model of olga [1]_, "uniform" draws genes, deletions and insertions uniformly.
        "auto" is olga's model for olga's germline.
    max_n : int, default 10
        Maximum of n-nucleotides of a junction, 0..100, in the uniform model.
    max_p : int, default 4
        Longest palindrome of a gene's end, 0..20, in the uniform model.
    erosion : int, default 10
        Maximum of deleted bases of an end, 0..1000, in the uniform model.

    References
    ----------
    .. [1] Z. Sethna et al., "OLGA: fast computation of generation probabilities of B- and T-cell
       receptor amino acid sequences and motifs", Bioinformatics 35, 2974-2981, 2019.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> tcr.ModelChoice(species="human").model().name
    'olga, human_T_beta'
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
        """Return the model of recombination.

        Returns
        -------
        Recombination
            Model that draws references.

        Raises
        ------
        BadParams
            The kind or germline is invalid, or olga's model is requested for other genes.
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
    """Summary of a simulation.

    Attributes
    ----------
    target : path of the table
    model : name of the model
    references : rows of the table
    productive : productive rows
    reads : FASTQ files of first and second mates
    pairs : number of read pairs
    """

    target: str
    model: str
    references: int
    productive: int
    reads: tuple[str, ...] = ()
    pairs: int = 0


@dataclass(frozen=True)
class SimulateChoice:
    """Options of a simulation.

    Parameters
    ----------
    reads : tuple of str, default ()
        FASTQ files of first and second mates, or none.
    made : `ReadsMade`, optional
        Parameters of the reads.
    overwrite : bool, default False
        True replaces existing files.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> tcr.SimulateChoice(reads=("1.fastq", "2.fastq")).made.length
    150
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

    Parameters
    ----------
    target : path
        Table to write.
    source : `ModelChoice`
        Model of recombination and its genes.
    wanted : Wanted
        Number of references, seed and depth.
    choice : `SimulateChoice`, optional
        Files of reads, and whether files may be replaced.
    on_progress : callable, optional
        Function that is called after each batch of references with the state of the job.

    Returns
    -------
    Simulated
        Numbers of references and of pairs of reads.

    Raises
    ------
    BadParams
        The model does not exist, reads are requested of genes that end at the CDR3, or a file
        exists and may not be replaced.

    References
    ----------
    .. [1] Z. Sethna et al., "OLGA: fast computation of generation probabilities of B- and T-cell
       receptor amino acid sequences and motifs", Bioinformatics 35, 2974-2981, 2019.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> tcr.simulate("truth.tsv", tcr.ModelChoice(species="human"), tcr.Wanted(n=20)).references
    20
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
            table.write(build_reference_rows(references, source.locus.upper()))
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
    """Open files that appear only when complete, without timestamps in gzip headers."""
    with write_whole_files(targets, overwrite=overwrite) as parts, ExitStack() as stack:
        opened = []
        for target, part in zip(targets, parts, strict=True):
            file: IO[bytes] = stack.enter_context(part.open("wb"))
            if target.suffix.lower() == ".gz":
                packed = gzip.GzipFile("", "wb", LEVEL, file, mtime=0)
                file = cast(IO[bytes], stack.enter_context(packed))
            opened.append(file)
        yield opened
