"""What is counted and how: all that makes two stores of the same files differ."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TypedDict

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.cleaning.clean import Limits
from gangsaw.tasks.tcr.germline import Germline
from gangsaw.tasks.tcr.germline.resolve import OnAmbiguous, OnUnknownAllele
from gangsaw.tasks.tcr.model import MAX_D, Model

# Along `reference`. About 60 MB of counts: few enough bytes that a worker of several threads fits
# into 2 GB, and 2,500 chunks for 40 million references.
CHUNK_ROWS = 16384

HYPERMUTATED = "IG"  # loci of B cells
HYPERMUTATION = (
    "{locus} is hypermutated in B cells that met antigen: a mutation is taken for an n-nucleotide, or "
    "leaves a row without any path. Count naive cells, or rows whose V and J have no mutation"
)


class Calls(TypedDict):
    """Arguments of a resolver."""

    on_ambiguous: OnAmbiguous
    on_unknown_allele: OnUnknownAllele


@dataclass(frozen=True)
class Setup:
    """Germline, model, and which rows are kept.

    Attributes
    ----------
    germline : V, D and J parts, none shorter than the model's max_p
    model : which paths are counted
    limits : which rows are kept
    on_ambiguous, on_unknown_allele : what happens to such calls, see `Resolver`
    columns : role -> column of the files, where it is not the column of their format
    chunk_rows : references of a chunk of the store
    """

    germline: Germline
    model: Model = field(default_factory=Model)
    limits: Limits = field(default_factory=Limits)
    on_ambiguous: OnAmbiguous = "drop"
    on_unknown_allele: OnUnknownAllele = "drop"
    columns: tuple[tuple[str, str], ...] = ()
    chunk_rows: int = CHUNK_ROWS

    def __post_init__(self) -> None:
        """Refuse what kernels cannot count with, and chunks of nothing."""
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
            if len(part.sequence) < max(1, model.max_p):
                raise BadParams(
                    f"{part.name} is shorter than max_p = {model.max_p}: leave it out "
                    f"of the germline, as `Germline.checked` does"
                )

    @property
    def calls(self) -> Calls:
        """How calls are resolved: keywords of `Germline.resolver`."""
        return {"on_ambiguous": self.on_ambiguous, "on_unknown_allele": self.on_unknown_allele}

    @property
    def notes(self) -> tuple[str, ...]:
        """What whoever reads the counts should know of their locus."""
        locus = self.germline.locus
        return (HYPERMUTATION.format(locus=locus),) if locus.startswith(HYPERMUTATED) else ()

    @property
    def digest(self) -> str:
        """64 hexadecimal digits."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()

    def attrs(self) -> dict[str, object]:
        """Return what a store says of germline and limits."""
        return {
            "germline": self.germline.source,
            "germline_locus": self.germline.locus,
            "germline_notes": list(self.germline.notes),
            "locus_notes": list(self.notes),
            "ambiguous_calls": self.on_ambiguous,
            "unknown_alleles": self.on_unknown_allele,
            **{f"limit_{name}": _plain(value) for name, value in asdict(self.limits).items()},
        }


def _plain(value: object) -> object:
    """Return a value that NetCDF takes as an attribute, too: it has no truth values."""
    return int(value) if isinstance(value, bool) else value
