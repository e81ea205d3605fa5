"""Option panels of `gangsaw tcr`, and the conversion of their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, cast

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import choice, make_completion
from gangsaw.tasks.tcr.model import ALL, LOCI, MAX_P, MOST

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.germline import Germline, Part
    from gangsaw.tasks.tcr.germline.genotypes.genotypes import Genotypes, Region
    from gangsaw.tasks.tcr.model import Kind, Model
    from gangsaw.tasks.tcr.repertoire.cleaning.clean import Anchors, Limits
    from gangsaw.tasks.tcr.store.tables.export import CountType, ExportChoice

GERMLINE = "Germline"


def _limit(text: str | int) -> int:
    """Return a limit as a number; "all" becomes the largest number.

    Raises `typer.BadParameter` for other texts. The models reject numbers out of range.
    """
    if text == ALL:
        return MOST
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither a number nor {ALL}") from None


LIMIT = f"0..{MOST} or {ALL}"


@dataclass(frozen=True)
class GermlineSource:
    """Options for the source of the germline."""

    PANEL: ClassVar[str] = GERMLINE
    germline: Annotated[
        list[str],
        typer.Option(
            metavar="PATH",
            help="FASTA (IMGT style) or table of genes, .gz or not, repeatable for V, D and J; or "
            "olga, the genes of that package's models.",
        ),
    ] = field(default_factory=lambda: ["olga"])


@dataclass(frozen=True)
class Genes:
    """Options that select genes of a germline."""

    PANEL: ClassVar[str] = GERMLINE
    locus: Annotated[
        str,
        typer.Option(
            "--locus",
            "--chain",
            metavar="LOCUS",
            help="TRA, TRB, TRG, TRD, IGH, IGK or IGL; one is counted at once. Rows of B cells may "
            "be hypermutated, which paths do not model.",
            autocompletion=make_completion(LOCI),
        ),
    ] = "TRB"
    species: Annotated[
        str | None,
        typer.Option(
            help="human, mouse, or as the source says. (default: the only one of the source)",
            show_default=False,
        ),
    ] = None
    anchors: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Table with columns gene and anchor_index, from 0: where the Cys or Phe/Trp codon "
            "begins, for genes whose anchor is not found.",
        ),
    ] = None
    max_p: Annotated[
        int,
        typer.Option(
            parser=_limit,
            metavar=LIMIT,
            help="Longest palindrome; all: as long as the gene. Genes of fewer bases, or of fewer "
            "than 4, are left out.",
            rich_help_panel="Options",
        ),
    ] = 4

    def of(self, source: Sequence[str]) -> Germline:
        """Return the selected genes of these germline files, without parts shorter than max_p."""
        from gangsaw.tasks.tcr.germline import open_germline

        opened = open_germline(source, locus=self.locus, species=self.species, anchors=self.anchors)
        return opened.checked(min(self.max_p, MAX_P))


@dataclass(frozen=True)
class CountedGenes(Genes, GermlineSource):
    """Options for the source of the germline, then those that select its genes."""

    def chosen(self) -> Germline:
        """Return the selected genes of the germline from the selected source."""
        return self.of(self.germline)


@dataclass(frozen=True)
class Donors:
    """Option for the genotypes of donors."""

    PANEL: ClassVar[str] = GERMLINE
    genotypes: Annotated[
        Path | None,
        typer.Option(
            metavar="TABLE",
            help="Which alleles the donor of each sample has: TSV or CSV with columns sample_id, "
            "gene and alleles (01,02), as TIgGER's. Others are not counted, nor do calls mean "
            "them. Of genes that are not listed, all alleles count.",
            show_default=False,
        ),
    ] = None

    def of(self, germline: Germline) -> Genotypes | None:
        """Return the genotypes in the table, or None without a table."""
        from gangsaw.tasks.tcr.germline.genotypes.table import read_genotypes

        if self.genotypes is None:
            return None
        parts: dict[Region, tuple[Part, ...]] = {"V": germline.v, "D": germline.d, "J": germline.j}
        return read_genotypes(self.genotypes, parts, germline.notes)


@dataclass(frozen=True)
class Paths:
    """Options for the model of the counted paths."""

    PANEL: ClassVar[str] = "Model"
    model: Annotated[
        str, choice(of=("dp1", "dp2", "both"), help="Model whose paths are counted.")
    ] = "both"
    strands: Annotated[
        int, typer.Option(min=1, max=2, help="dp2: strands of a palindrome that can be cut.")
    ] = 1
    max_n: Annotated[
        int,
        typer.Option(
            parser=_limit,
            metavar=LIMIT,
            help=(
                "Maximum number of n-nucleotides: per junction in dp2, in total in dp1. "
                "Above 15, or with palindromes above 4, only the CPU counts."
            ),
        ),
    ] = 10
    d_segments: Annotated[
        int, typer.Option(min=1, max=2, help="D genes in a row; 2 is V-D-D-J, dp2 only.")
    ] = 1

    def to_model(self, max_p: int) -> Model:
        """Return the model, with P nucleotides limited to max_p at each end."""
        from gangsaw.tasks.tcr.model import Model

        return Model(
            cast("Kind", self.model),  # Model rejects others
            cast("Literal[1, 2]", self.strands),
            max_p,
            self.max_n,
            cast("Literal[1, 2]", self.d_segments),
        )


@dataclass(frozen=True)
class RowOptions:
    """Options for the row filter and the column names of input tables."""

    PANEL: ClassVar[str] = "Rows"
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="ROLE=NAME, repeatable: which column holds junction (with the codons of Cys and "
            "Phe/Trp), cdr3 (without), v, j, copies, id, sample, locus or productive, where it is "
            "not as the format has it.",
        ),
    ] = None
    sample_column: Annotated[
        str | None,
        typer.Option(
            help="Column that names the sample of each row. (default: the file is the sample)",
            show_default=False,
        ),
    ] = None
    ambiguous: Annotated[
        str,
        choice(
            of=("drop", "first"),
            help="Rows whose gene call lists several genes with different CDR3 parts.",
        ),
    ] = "drop"
    unknown_allele: Annotated[
        str,
        choice(
            of=("drop", "gene"),
            help="Rows with an allele that the germline lacks, of a gene that it has.",
        ),
    ] = "drop"
    max_length: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Longest CDR3 to keep, in nucleotides. (default: all that can be counted)",
            show_default=False,
        ),
    ] = None
    keep_out_of_frame: Annotated[
        bool,
        typer.Option(
            "--keep-out-of-frame",
            help="Keep rows whose length is no multiple of three: counting needs no frame.",
        ),
    ] = False
    keep_unproductive: Annotated[
        bool,
        typer.Option(
            "--keep-unproductive",
            help="Keep rows with a stop codon, or that their file calls unproductive.",
        ),
    ] = False
    codons: Annotated[
        str, choice(of=("cys", "both", "any"), help="Conserved codons that a junction must have.")
    ] = "cys"
    dropped: Annotated[
        Path | None,
        typer.Option(
            help="Table of dropped rows to write. (default: OUT.dropped.tsv)", show_default=False
        ),
    ] = None
    keep_going: Annotated[
        bool,
        typer.Option(
            "--keep-going",
            help="Skip files that cannot be read, and the rest of damaged files.",
        ),
    ] = False

    def limits(self) -> Limits:
        """Return the conditions that a CDR3 must meet to be counted."""
        from gangsaw.tasks.tcr.model import MAX_LENGTH
        from gangsaw.tasks.tcr.repertoire.cleaning.clean import Limits

        longest = self.max_length or MAX_LENGTH
        anchors = cast("Anchors", self.codons)  # Limits rejects others
        return Limits(longest, self.keep_out_of_frame, self.keep_unproductive, anchors)

    def columns(self) -> tuple[tuple[str, str], ...]:
        """Return (role, column name) pairs of ROLE=NAME options, with the sample column."""
        sample = [] if self.sample_column is None else [f"sample={self.sample_column}"]
        return tuple(sorted(map(_column, [*(self.column or ()), *sample])))


@dataclass(frozen=True)
class CountsTarget:
    """Options of the counts store."""

    chunk: Annotated[
        int | None,
        typer.Option(
            min=1, help="References per chunk of the store. (default: 16384)", show_default=False
        ),
    ] = None
    by_d: Annotated[
        bool | None,
        typer.Option(
            "--by-d/--totals",
            help=(
                "Store counts and calls for each D gene, or only the totals. (default: "
                "for each, up to 8 D genes)"
            ),
            show_default=False,
        ),
    ] = None
    pgen: Annotated[
        bool,
        typer.Option(
            "--pgen",
            help="Also store probabilities of generation by olga's model of the locus; a core does "
            "some hundred rows a second.",
        ),
    ] = False
    resume: opt.Resume = False
    overwrite: opt.Overwrite = False


@dataclass(frozen=True)
class Columns:
    """Options that select columns of an exported table."""

    variable: Annotated[
        list[str] | None,
        typer.Option(
            help="Name of a variable to use; repeatable. (default: all)", show_default=False
        ),
    ] = None
    nu: Annotated[
        list[int] | None,
        typer.Option(
            help="Limit on n-nucleotides (nu) of the counts; repeatable. (default: all)",
            show_default=False,
        ),
    ] = None
    pi: Annotated[
        list[int] | None,
        typer.Option(
            help="Limit on palindromes (pi) of the counts; repeatable. (default: all)",
            show_default=False,
        ),
    ] = None
    total_n: Annotated[
        list[int] | None,
        typer.Option(
            help="Total number of n-nucleotides (DP-1); repeatable. (default: all)",
            show_default=False,
        ),
    ] = None
    counts: Annotated[
        str,
        choice(
            of=("int64", "float64", "text"),
            help="int64 refuses counts beyond 2^63 - 1, float64 rounds beyond 2^53, text is exact.",
        ),
    ] = "int64"

    def choice(self) -> ExportChoice:
        """Return the options as `ExportChoice` of the function `export`."""
        from gangsaw.tasks.tcr.store.tables.export import ExportChoice

        return ExportChoice(
            tuple(self.variable or ()),
            tuple(self.nu or ()),
            tuple(self.pi or ()),
            tuple(self.total_n or ()),
            cast("CountType", self.counts),  # ExportChoice rejects others
        )


@dataclass(frozen=True)
class Printed:
    """Output options of a command."""

    as_json: opt.Json = False
    quiet: opt.Quiet = False

    @property
    def no_bars(self) -> bool:
        """True if no progress is shown."""
        return self.quiet or self.as_json


def _column(pair: str) -> tuple[str, str]:
    role, equals, name = pair.partition("=")
    if not (role and equals and name):
        raise BadParams(f"--column must be ROLE=NAME such as junction=cdr3nt, got {pair!r}")
    return role.strip(), name.strip()
