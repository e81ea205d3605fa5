"""Gene names in the spellings of IMGT, IgBLAST, MiXCR, 10x, VDJtools and immunoSEQ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

WITH_D = ("TRB", "TRD", "IGH")
WILD_ALLELE = "00"  # MiXCR: the gene is known, the allele is not

_LONGEST = 64  # characters of a name; int() rejects thousands of digits
_GENE_PREFIX = r"(?:TC?R[ABGD]|IG[HKL])[VDJ]"
_NAME = re.compile(rf"({_GENE_PREFIX})([A-Z0-9(][A-Z0-9()/_.-]*)(?:\*([A-Z0-9_.-]+))?")
_CONSTANT = re.compile(r"TR[ABGD]C|IG(?:[KL]C|H[ADEGM])")
_ANYWHERE = re.compile(rf"(?<![A-Z0-9]){_GENE_PREFIX}[A-Z0-9*/_.-]*")
_NEXT_IN_TIE = re.compile(r"/(?!DV|OR)")  # TRAV23/DV6 and TRBV20/OR9-2 are one gene each
_LEADING_ZEROS = re.compile(r"(?<![A-Z0-9])0+(?=\d)|(?<=DV)0+(?=\d)|(?<=OR)0+(?=\d)")


@dataclass(frozen=True)
class GeneName:
    """Gene name in one canonical spelling.

    Attributes
    ----------
    locus : "TRB"
    region : "V", "D" or "J"
    gene : rest of the name, without slashes and leading zeros: "6-2", "29DV5", "20OR9-2"
    allele : "01", or "" for the gene without an allele
    """

    locus: str
    region: str
    gene: str
    allele: str = ""

    @property
    def loci(self) -> tuple[str, ...]:
        """Loci that use the gene: TRAV29/DV5 rearranges to TRAJ and to TRDD or TRDJ."""
        return ("TRA", "TRD") if self.locus == "TRA" and "DV" in self.gene else (self.locus,)

    @property
    def family(self) -> str:
        """Number before the dash: "6" of "6-2", "29" of "29DV5"."""
        return re.split(r"-|DV|OR", self.gene, maxsplit=1)[0]

    @property
    def order(self) -> tuple[object, ...]:
        """Sort key in numeric order, which for D genes of TRB and TRD is genomic order."""
        pieces = re.split(r"(\d+)", self.gene)
        numbers = tuple(int(piece) if piece.isdigit() else piece for piece in pieces)
        return self.locus, self.region, numbers, self.allele

    @property
    def without_allele(self) -> GeneName:
        """Name of the gene without its allele."""
        return GeneName(self.locus, self.region, self.gene)

    def __str__(self) -> str:
        """Return the name in IMGT spelling, without slashes."""
        allele = f"*{self.allele}" if self.allele else ""
        return f"{self.locus}{self.region}{self.gene}{allele}"


def gene_name(text: str) -> GeneName | None:
    """Return the gene name that `text` spells, or None.

    Valid spellings are `TRBV6-2*01`, `trbv6-2`, `TCRBV06-02*01`, `TRAV29DV5`, `TRAV4-4-DV10` and
    `TCRBV20-or09_02`.
    """
    found = _NAME.fullmatch(text.strip().upper()) if len(text) <= _LONGEST else None
    if found is None:
        return None
    letters, gene, allele = found.groups()
    letters, gene = letters.replace("TCR", "TR"), gene.removesuffix("-X")  # TCRBV06-X: any gene
    gene = _LEADING_ZEROS.sub("", re.sub("[-/](?=OR|DV)", "", gene.replace("_", "-")))
    if letters == "IGHD" and not any(letter.isdigit() for letter in gene):
        return None  # constant gene of IgD
    return GeneName(letters[:3], letters[3], gene, allele.zfill(2) if allele else "")


def is_constant(text: str) -> bool:
    """Return True if a text names a constant gene, such as TRBC1 or IGHM."""
    return _CONSTANT.match(text.strip().upper()) is not None


def list_gene_names(call: str) -> list[str]:
    """Return the gene names in a call, in their order.

    Separators are commas, semicolons, bars, `or`, scores in brackets, species names and remarks on
    functionality. `TRBV6-2/TRBV6-3`, `TCRBV12-03/12-04*01` and `TRBV6-2/3` are ties of two genes.
    """
    return [name for tie in _ANYWHERE.findall(call.upper()) for name in _untied(tie)]


def _untied(tie: str) -> list[str]:
    first, *others = _NEXT_IN_TIE.split(tie)
    letters = re.match(_GENE_PREFIX, first)
    start = letters.group() if letters else ""
    return [first, *(_whole(start, first, other) for other in others if other)]


def _whole(sequence: str, first: str, other: str) -> str:
    """Return the full name of a gene that a tie abbreviates: 12-04*01 or 3 after TRBV6-2."""
    if re.match(_GENE_PREFIX, other):
        return other
    dashed = "-" in first and "-" not in other
    return first.rpartition("-")[0] + "-" + other if dashed else sequence + other


def d_pairs_with_j(d_names: Sequence[str], j_names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a mask (n_d, n_j): True where a D gene can be joined to a J gene.

    TRBD2 is downstream of all TRBJ1 genes, so that joining by deletion pairs it only with TRBJ2.
    All other pairs are possible.
    """
    first = np.array([not _is_in(name, "D", "2") for name in d_names], np.bool_)
    behind = np.array([_is_in(name, "J", "2") for name in j_names], np.bool_)
    return np.logical_or.outer(first, behind)


def _is_in(name: str, region: str, family: str) -> bool:
    gene = gene_name(name)
    return gene is not None and (gene.locus, gene.region, gene.family) == ("TRB", region, family)
