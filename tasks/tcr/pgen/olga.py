"""Probabilities of generation of CDR3s with their V and J, by the models of olga.

Sethna et al. 2019, Bioinformatics 35:2974. Path counts do not weight events. Here a model that was
learned from out-of-frame sequences weights them, as the null hypothesis. The package computes
some hundred nucleotypes a second and core.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol
from warnings import catch_warnings, simplefilter

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.tcr.germline.olga import model_folder

Place = tuple[int | None, int | None]
CYS, PHE_TRP = (None, 3), (-3, None)  # anchor codons in olga's gene parts
OUT_OF_FRAME = "out of frame: olga takes whole codons"
NOT_ACGT = "has other letters than A, C, G and T"
NO_GENE = "olga's model lacks its V or J"
IMPOSSIBLE = "olga's model cannot make it"
PGEN_REASONS = (OUT_OF_FRAME, NOT_ACGT, NO_GENE, IMPOSSIBLE)


@dataclass(frozen=True)
class PgenModel:
    """Model of olga for probabilities of generation (Pgen), pickled as its folder.

    It is loaded on the worker.

    Attributes
    ----------
    folder : folder of the model
    """

    folder: str

    @property
    def name(self) -> str:
        """Name of the model, such as human_T_beta."""
        return Path(self.folder).name


@dataclass(frozen=True)
class PgenBatch:
    """Nucleotypes: CDR3s without the anchor codons, and V and J genes, with or without alleles."""

    cdr3: tuple[str, ...]
    v: tuple[str, ...]
    j: tuple[str, ...]


@dataclass(frozen=True)
class PgenTask:
    """Task that computes the probabilities of generation of a batch of nucleotypes."""

    model: PgenModel
    name: str = "associate-pgen"
    peak_bytes: int = 1 << 27  # memory of olga

    def __call__(self, batch: PgenBatch) -> tuple[NDArray[np.float64], Counter[str]]:
        """Return probabilities (n,), with NaN for failures, and counts of the failures' reasons."""
        return pgens(batch, self.model)


def pgen_model(locus: str, species: str | None) -> PgenModel:
    """Return olga's model of a locus; raise `BadParams` if it has none."""
    return PgenModel(str(model_folder(locus, species)))


def pgens(batch: PgenBatch, model: PgenModel) -> tuple[NDArray[np.float64], Counter[str]]:
    """Return the joint probabilities (n,) of CDR3, V and J of nucleotypes.

    Failures are NaN; the second result counts them by reason.
    """
    found, reasons = pgens_of_rows(batch, model)
    why = Counter(PGEN_REASONS[i - 1] for i in reasons[reasons > 0].tolist())
    return found, why


def pgens_of_rows(
    batch: PgenBatch, model: PgenModel
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Return the probabilities (n,) of `pgens`, and reason codes (n,): 1-based in PGEN_REASONS."""
    loaded = _loaded(model.folder)
    found, reasons = np.full(len(batch.cdr3), math.nan), np.zeros(len(batch.cdr3), np.int8)
    for i, row in enumerate(zip(batch.cdr3, batch.v, batch.j, strict=True)):
        found[i], reason = loaded.pgen(*row)
        reasons[i] = PGEN_REASONS.index(reason) + 1 if reason else 0
    return found, reasons


class _Olga(Protocol):
    """Interface of olga's probability objects."""

    def compute_CDR3_pgen(self, symbols: str, v: list[int], j: list[int]) -> float:  # noqa: N802
        """Return the probability of a CDR3 in olga's codon symbols, with allele indices v and j."""


@dataclass(frozen=True)
class _Loaded:
    """Loaded model with its genes.

    Attributes
    ----------
    model : object of olga
    v, j : gene -> indices of its alleles that have an anchor, and the codon of Cys or Phe/Trp
    """

    model: _Olga
    v: dict[str, tuple[list[int], str]]
    j: dict[str, tuple[list[int], str]]

    def pgen(self, cdr3: str, v: str, j: str) -> tuple[float, str]:
        """Return the probability of generation and "", or NaN and the reason why there is none."""
        if len(cdr3) % 3:
            return math.nan, OUT_OF_FRAME
        if set(cdr3) - set(BASES.decode()):
            return math.nan, NOT_ACGT
        if (of_v := _of(self.v, v)) is None or (of_j := _of(self.j, j)) is None:
            return math.nan, NO_GENE
        (v_mask, cys), (j_mask, phe) = of_v, of_j
        found = self.model.compute_CDR3_pgen(_symbols(cys + cdr3 + phe), v_mask, j_mask)
        return (float(found), "") if found > 0 else (math.nan, IMPOSSIBLE)


def _symbols(text: str) -> str:
    from olga.utils import nt2codon_rep

    return str(nt2codon_rep(text))


def _of(genes: dict[str, tuple[list[int], str]], name: str) -> tuple[list[int], str] | None:
    """Return allele indices and anchor codon of a call: of the allele, or else of its gene."""
    return genes.get(name) or genes.get(name.partition("*")[0])


@lru_cache(maxsize=4)
def _loaded(folder: str) -> _Loaded:
    opened = open_model(folder)
    from olga import generation_probability as probability

    of_kind = getattr(probability, f"GenerationProbability{opened.kind}")
    found = of_kind(opened.model, opened.genes)
    return _Loaded(found, _by_name(opened.genes.genV, CYS), _by_name(opened.genes.genJ, PHE_TRP))


class OlgaGenes(Protocol):
    """Interface of olga's genes: name, part from or up to the anchor codon, and whole gene."""

    genV: Sequence[Sequence[str]]  # noqa: N815
    genJ: Sequence[Sequence[str]]  # noqa: N815


class OpenedModel(NamedTuple):
    """Objects of olga: "VDJ" or "VJ", the suffix of their classes; genes; probabilities."""

    kind: str
    genes: OlgaGenes
    model: object


def open_model(folder: str) -> OpenedModel:
    """Load the olga model of `model_folder`; raise `BadParams` if a library is missing."""
    with extras_named():
        from olga import load_model as models
    path = Path(folder)
    has_d = path.name.endswith(("_T_beta", "_B_heavy"))
    kind = "VDJ" if has_d else "VJ"
    genes, model = (
        getattr(models, f"GenomicData{kind}")(),
        getattr(models, f"GenerativeModel{kind}")(),
    )
    anchors = [str(path / f"{x}_gene_CDR3_anchors.csv") for x in "VJ"]
    with catch_warnings():
        simplefilter("ignore", ResourceWarning)  # olga leaves files open
        genes.load_igor_genomic_data(str(path / "model_params.txt"), *anchors)
        model.load_and_process_igor_model(str(path / "model_marginals.txt"))
    return OpenedModel(kind, genes, model)


def _by_name(genes: Sequence[Sequence[str]], anchor: Place) -> dict[str, tuple[list[int], str]]:
    """Return name of an allele or gene -> indices of its alleles, and its anchor codon.

    `genes` are olga's, `anchor` is the range of the codon in the part.
    """
    found: dict[str, tuple[list[int], str]] = {}
    for i, (name, part, *_) in enumerate(genes):
        names = (name, name.partition("*")[0]) if part else ()
        for key in dict.fromkeys(names):
            indices, _ = found.setdefault(key, ([], part[anchor[0] : anchor[1]]))
            indices.append(i)
    return found
