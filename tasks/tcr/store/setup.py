"""Setup of a count: everything that makes two stores of the same files differ."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypedDict

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.tcr.counting.paths.dataset import Variable, d_pairs, variables
from gangsaw.tasks.tcr.counting.paths.totals import totals
from gangsaw.tasks.tcr.germline import Germline
from gangsaw.tasks.tcr.germline.genotypes.genotypes import Genotypes
from gangsaw.tasks.tcr.germline.resolve import OnAmbiguous, OnUnknownAllele
from gangsaw.tasks.tcr.model import MAX_D, Model
from gangsaw.tasks.tcr.pgen.olga import PGEN_REASONS, PgenModel
from gangsaw.tasks.tcr.repertoire.cleaning.clean import Limits

# Along `reference`. A chunk has about 60 MB of counts, so that a worker with several threads fits
# into 2 GB, and 40 million references have 2,500 chunks.
CHUNK_ROWS = 16384
USUAL_CELLS, FEW_ROWS = 66, 64  # counts of a row at max_p 4 and max_n 10; fewest rows of a chunk
FEW_D = 8  # each takes a kB of a row: the 40 of human IGH would dominate the store

HYPERMUTATED = "IG"  # prefix of the loci of B cells
HYPERMUTATION = (
    "{locus} is hypermutated in B cells that met antigen: a mutation counts as an n-nucleotide, "
    "or leaves a row without any path. Count naive cells, or rows whose V and J have no mutation"
)


PGEN = (
    Variable(
        "pgen",
        ("reference",),
        "float64",
        "1",
        "Probability that olga's model makes the nucleotides with this V and J; NaN: pgen_reason",
    ),
    Variable(
        "pgen_reason",
        ("reference",),
        "int8",
        "1",
        "Why there is no probability: "
        + ", ".join(f"{i} {why}" for i, why in enumerate(("it has one", *PGEN_REASONS))),
    ),
)


class Calls(TypedDict):
    """Keyword arguments of `Germline.resolver`."""

    on_ambiguous: OnAmbiguous
    on_unknown_allele: OnUnknownAllele


@dataclass(frozen=True)
class Setup:
    """Germline, model, and row filter of a count.

    Parameters
    ----------
    germline : Germline
        V, D and J parts, none shorter than the model's max_p.
    model : Model, optional
        Model of the counted paths.
    limits : Limits, optional
        Conditions for counted rows.
    on_ambiguous, on_unknown_allele : str, default "drop"
        Treatment of ambiguous calls and of calls of unknown alleles, see `Resolver`.
    columns : tuple of pairs of str, default ()
        Roles and columns that override the columns of the format.
    chunk_rows : int, default 16384
        References of a chunk of the store.
    by_d : bool, optional
        True if the store has counts and calls of each D gene, False for totals only. None is True
        for at most FEW_D genes, or pairs of them.
    pgen : `PgenModel`, optional
        Model of olga for stored probabilities of generation. None stores none.
    genotypes : Genotypes, optional
        Germline parts that donors have. None if all have all.

    Raises
    ------
    BadParams
        The model and the germline do not fit each other.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> germline = tcr.open_germline("olga", locus="TRB", species="human")
    >>> setup = tcr.Setup(germline, tcr.Model(max_n=4, max_p=2))
    >>> setup.d_choices
    ('TRBD1*01', 'TRBD2*01', 'TRBD2*02')
    """

    germline: Germline
    model: Model = field(default_factory=Model)
    limits: Limits = field(default_factory=Limits)
    on_ambiguous: OnAmbiguous = "drop"
    on_unknown_allele: OnUnknownAllele = "drop"
    columns: tuple[tuple[str, str], ...] = ()
    chunk_rows: int = CHUNK_ROWS
    by_d: bool | None = None
    pgen: PgenModel | None = None
    genotypes: Genotypes | None = None

    def __post_init__(self) -> None:
        """Raise `BadParams` for genes that the kernels cannot count, and for empty chunks."""
        if self.chunk_rows < 1:
            raise BadParams(f"a chunk must have 1 reference or more, got {self.chunk_rows}")
        germline, model = self.germline, self.model
        if model.d_segments == 2 and len(germline.d) < 2:
            raise BadParams(
                f"two D genes in a row need 2 or more; {germline.locus} of "
                f"{germline.source} has {len(germline.d)}"
            )
        for part in germline.d:
            if len(part.sequence) > MAX_D:
                raise BadParams(
                    f"{part.name} has {len(part.sequence)} nucleotides; a D gene of at "
                    f"most {MAX_D} can be counted"
                )
        for part in (*germline.v, *germline.d, *germline.j):
            if len(part.sequence) < max(1, model.shortest):
                raise BadParams(
                    f"{part.name} is shorter than max_p = {model.shortest}: leave it out "
                    f"of the germline, as `Germline.checked` does"
                )

    @property
    def calls(self) -> Calls:
        """Keyword arguments of `Germline.resolver`."""
        return {"on_ambiguous": self.on_ambiguous, "on_unknown_allele": self.on_unknown_allele}

    @property
    def notes(self) -> tuple[str, ...]:
        """Messages for users of the counts, on their locus."""
        locus, n = self.germline.locus, len(self.d_choices)
        found = [HYPERMUTATION.format(locus=locus)] if locus.startswith(HYPERMUTATED) else []
        if self.by_d is None and not self.has_by_d:
            found.append(f"totals over D genes are stored, not the counts of all {n}: see --by-d")
        return tuple(found)

    @property
    def d_choices(self) -> tuple[str, ...]:
        """Names of the D genes of the counts, or of the pairs of them."""
        names = [part.name for part in self.germline.d]
        return tuple(names) if self.model.d_segments == 1 else d_pairs(names)

    @property
    def has_by_d(self) -> bool:
        """True if the store has counts and calls of each D gene."""
        return len(self.d_choices) <= FEW_D if self.by_d is None else self.by_d

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Counted and stored variables."""
        n_d = len(self.germline.d)
        each = variables(self.model, n_d)
        own = [v for v in each if self.has_by_d or not {"d_gene", "d_pair"} & set(v.dims)]
        return (*totals(self.model, n_d), *own, *(PGEN if self.pgen else ()))

    @property
    def digest(self) -> str:
        """Hash of the setup, 64 hexadecimal digits."""
        fields = asdict(self)
        if self.genotypes is None:  # as before genotypes existed, so that begun jobs can be resumed
            del fields["genotypes"]
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()

    def attrs(self) -> dict[str, object]:
        """Return the attributes of a store that describe germline and limits.

        Returns
        -------
        dict
            JSON values by name.
        """
        return {
            "germline": self.germline.source,
            "germline_locus": self.germline.locus,
            "germline_notes": list(self.germline.notes),
            "locus_notes": list(self.notes),
            **({"pgen_model": self.pgen.name} if self.pgen else {}),
            **({"genotypes": self.genotypes.source} if self.genotypes else {}),
            "ambiguous_calls": self.on_ambiguous,
            "unknown_alleles": self.on_unknown_allele,
            **{f"limit_{name}": _plain(value) for name, value in asdict(self.limits).items()},
        }


def chunk_rows_of(model: Model) -> int:
    """Return the default number of references per chunk, fewer for models with more counts."""
    cells = model.dp2 * len(model.nus) * len(model.pis) + model.dp1 * (model.max_n + 1)
    return max(FEW_ROWS, min(CHUNK_ROWS, CHUNK_ROWS * USUAL_CELLS // cells))


def _plain(value: object) -> object:
    """Return a value as a NetCDF attribute, which has no booleans."""
    return int(value) if isinstance(value, bool) else value


@dataclass(frozen=True)
class CountChoice:
    """Options of a counting job: files that it may replace, resume or leave out.

    Parameters
    ----------
    table : pathlib.Path, optional
        Table of dropped rows. None puts it next to the store.
    resume : bool, default False
        True continues an interrupted run with the same files and setup.
    overwrite : bool, default False
        True replaces an existing store, which stays complete until the new one is.
    keep_going : bool, default False
        True uses the rows before the damage of a file, or none if it cannot be opened. The summary
        names it.
    durable : bool, default True
        True syncs finished work to the disk.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> tcr.CountChoice(overwrite=True).replaces_table
    True
    """

    table: Path | None = None
    resume: bool = False
    overwrite: bool = False
    keep_going: bool = False
    durable: bool = True

    @property
    def replaces_table(self) -> bool:
        """True if an existing table of dropped rows may be replaced."""
        return self.overwrite or self.resume


@dataclass(frozen=True)
class PhaseProgress:
    """Progress callbacks of the two phases, called in the job's thread.

    Parameters
    ----------
    on_read : callable, optional
        Function that is called after each file. It gets the state of the phase: done and total
        count files, raw bytes are those of the files.
    on_count : callable, optional
        Function that is called after each chunk. Here done and total count references.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> states = []
    >>> tcr.PhaseProgress(on_count=states.append).on_read is None
    True
    """

    on_read: OnProgress | None = None
    on_count: OnProgress | None = None
