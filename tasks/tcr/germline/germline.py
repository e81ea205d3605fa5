"""Germline: the CDR3 parts of the genes of one locus."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.tcr.germline.names import gene_name
from gangsaw.tasks.tcr.germline.parts import LEFT_OUT, Part
from gangsaw.tasks.tcr.germline.resolve import OnAmbiguous, OnUnknownAllele, Resolver


@dataclass(frozen=True)
class Germline:
    """Germline parts of one locus and species.

    Attributes
    ----------
    source : name of the source, for messages
    v, d, j : parts, sorted by their numbers; no D for a V-J locus
    notes : problems of single genes, each beginning with the gene's name
    """

    source: str
    v: tuple[Part, ...]
    d: tuple[Part, ...]
    j: tuple[Part, ...]
    notes: tuple[str, ...] = ()

    @property
    def locus(self) -> str:
        """Three-letter name of the locus, such as "TRB"; each J gene belongs to one locus only."""
        gene = gene_name(self.j[0].name) if self.j else None
        return gene.locus if gene else ""

    def resolver(
        self,
        region: Literal["V", "D", "J"],
        *,
        on_ambiguous: OnAmbiguous = "drop",
        on_unknown_allele: OnUnknownAllele = "drop",
        lacks: Collection[int] = (),
    ) -> Resolver:
        """Return the resolver that finds V, D or J parts by gene calls; see `Resolver`."""
        return Resolver(
            {"V": self.v, "D": self.d, "J": self.j}[region],
            locus=self.locus,
            notes=self.notes,
            on_ambiguous=on_ambiguous,
            on_unknown_allele=on_unknown_allele,
            lacks=lacks,
        )

    def checked(self, max_p: int) -> Germline:
        """Return the germline without the parts shorter than `max_p`, with a note for each.

        The models require that a gene is at least as long as its longest palindrome.

        Raises
        ------
        BadParams : no V or no J part, or none of several D parts, is long enough
        """
        regions = {"V": self.v, "D": self.d, "J": self.j}
        long = {name: _long_enough(parts, max_p) for name, parts in regions.items()}
        for name, parts in regions.items():
            if parts and not long[name]:
                raise BadParams(f"{self.source}: no {name} part has max_p = {max_p} nucleotides")
        short = (p for name, parts in regions.items() for p in parts if p not in long[name])
        notes = tuple(_too_short(part, max_p) for part in short)
        return replace(self, v=long["V"], d=long["D"], j=long["J"], notes=self.notes + notes)


def _long_enough(parts: Iterable[Part], max_p: int) -> tuple[Part, ...]:
    return tuple(part for part in parts if len(part.sequence) >= max(max_p, 1))


def _too_short(part: Part, max_p: int) -> str:
    n = len(part.sequence)
    return f"{part.name} {LEFT_OUT}: {n} nucleotides in the CDR3, fewer than max_p = {max_p}"
