"""Recombination by a model of olga: Sethna et al. 2019, Bioinformatics 35:2974.

The probabilities, and their use, are those of olga's `SequenceGenerationVDJ` and `VJ`. The draws
are vectorised and seeded here: olga draws one at a time from NumPy's global state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.tasks.tcr.germline.anchors import CODON
from gangsaw.tasks.tcr.germline.genes.genes import Gene
from gangsaw.tasks.tcr.germline.genes.lines import Bases, Ints, ragged_of
from gangsaw.tasks.tcr.germline.olga import model_folder
from gangsaw.tasks.tcr.pgen.olga import OlgaGenes, open_model
from gangsaw.tasks.tcr.simulation.recombination import Ends, Recombinations

Floats = NDArray[np.float64]


class _Drawing(Protocol):
    """Interface of olga's `SequenceGenerationVDJ` and `SequenceGenerationVJ`.

    It has cumulative probabilities of genes, insertions and deletions, and the genes' segments in
    the CDR3 with palindromes.
    """

    CPV: Floats
    CPDJ: Floats
    CPVJ: Floats
    CinsVD: Floats
    CinsDJ: Floats
    CPinsVJ: Floats
    C_Rvd: Floats
    C_Rdj: Floats
    C_Rvj: Floats
    C_first_nt_bias_insVD: Floats
    C_first_nt_bias_insDJ: Floats
    C_first_nt_bias_insVJ: Floats
    given_V_CPdelV: Floats  # noqa: N815
    given_J_CPdelJ: Floats  # noqa: N815
    given_D_CPdelDldelDr: Floats  # noqa: N815
    num_J_genes: int  # noqa: N815
    num_delDr_poss: int  # noqa: N815
    cutV_genomic_CDR3_segs: Sequence[str]  # noqa: N815
    cutJ_genomic_CDR3_segs: Sequence[str]  # noqa: N815


@dataclass(frozen=True)
class OlgaModel:
    """Recombination model of olga.

    Attributes
    ----------
    folder : folder of the model
    """

    folder: str

    @property
    def name(self) -> str:
        """Name of the model, such as "olga, human_T_beta"."""
        return f"olga, {Path(self.folder).name}"

    @property
    def ends(self) -> Ends:
        """Genes with palindromes; genes that olga classifies as non-functional are empty."""
        return _opened(self.folder)[1]

    def draw(self, rng: np.random.Generator, n: int) -> Recombinations:
        """Return up to n random recombinations, without those that olga rejects.

        Rejected are genes that do not reach into the CDR3, and cuts longer than the gene.
        """
        drawing, ends = _opened(self.folder)
        events = _drawn(drawing, rng, n)
        fits = ends.v.lengths[events.v] > np.maximum(events.v_cut, 0)
        fits &= ends.j.lengths[events.j] >= events.j_cut
        if len(events.d):
            fits &= ends.d.lengths[events.d] >= events.d_left + events.d_right
        return events.some(np.flatnonzero(fits))


def olga_model(locus: str, species: str | None) -> OlgaModel:
    """Return the model of a locus and species; raise `BadParams` if olga has none."""
    return OlgaModel(str(model_folder(locus, species)))


def _drawn(drawing: _Drawing, rng: np.random.Generator, n: int) -> Recombinations:
    """Return n random recombinations, drawn as by olga's `choose_random_recomb_events`."""
    has_d = hasattr(drawing, "CPDJ")
    v = _of(drawing.CPV, rng, n) if has_d else np.zeros(0, np.int64)
    pair = _of(drawing.CPDJ if has_d else drawing.CPVJ, rng, n)
    other, j = pair // drawing.num_J_genes, pair % drawing.num_J_genes
    v, d = (v, other) if has_d else (other, v)
    v_cut, j_cut = (
        _draw_conditional(drawing.given_V_CPdelV, v, rng),
        _draw_conditional(drawing.given_J_CPdelJ, j, rng),
    )
    if not has_d:
        n1 = _of(drawing.CPinsVJ, rng, n)
        letters = _chain(n1, drawing.C_Rvj, drawing.C_first_nt_bias_insVJ, rng)
        return Recombinations(v, j, v_cut, j_cut, letters, n1)
    both = _draw_conditional(drawing.given_D_CPdelDldelDr, d, rng)
    left, right = both // drawing.num_delDr_poss, both % drawing.num_delDr_poss
    n1, n2 = _of(drawing.CinsVD, rng, n), _of(drawing.CinsDJ, rng, n)
    first = _chain(n1, drawing.C_Rvd, drawing.C_first_nt_bias_insVD, rng)
    # the insertion of D and J is a chain from J's side
    second = _chain(n2, drawing.C_Rdj, drawing.C_first_nt_bias_insDJ, rng)[:, ::-1]
    return Recombinations(v, j, v_cut, j_cut, first, n1, d, left, right, second, n2)


def _of(cumulative: Floats, rng: np.random.Generator, n: int) -> Ints:
    """Return n draws of outcomes, given their cumulative probabilities.

    The last outcome absorbs rounding errors of the sum.
    """
    return np.minimum(cumulative.searchsorted(rng.random(n)), len(cumulative) - 1)


def _draw_conditional(cumulative: Floats, which: Ints, rng: np.random.Generator) -> Ints:
    """Return one draw per i from row `which[i]` of cumulative probabilities (genes, outcomes).

    All rows are concatenated, each of length 1, so that one search draws from every row. Rows of
    genes that are never drawn are 0.
    """
    outcomes = cumulative.shape[1]
    flat = (np.minimum(cumulative, 1) + np.arange(len(cumulative))[:, None]).ravel()
    found: Ints = flat.searchsorted(which + rng.random(len(which))) - which * outcomes
    return found.clip(0, outcomes - 1)


def _chain(lengths: Ints, steps: Floats, first: Floats, rng: np.random.Generator) -> Bases:
    """Return n random sequences of bases of a Markov chain, (n, longest).

    Parameters
    ----------
    lengths : (n,) bases that are needed
    steps : (4, 4) cumulative probabilities of a base after each base
    first : (4,) cumulative probabilities of the first base
    rng : source of random numbers
    """
    longest = int(lengths.max(initial=0))
    codes = np.zeros((len(lengths), longest), np.int64)
    for at in range(longest):
        before = None if at == 0 else codes[:, at - 1]
        bounds = first[None] if before is None else steps[before]
        codes[:, at] = (bounds[:, :3] < rng.random(len(lengths))[:, None]).sum(axis=1)
    return LETTER_OF_CODE[codes]


@lru_cache(maxsize=4)
def _opened(folder: str) -> tuple[_Drawing, Ends]:
    """Return olga's generator object, and the genes with palindromes."""
    opened = open_model(folder)
    from olga import sequence_generation

    of_kind = getattr(sequence_generation, f"SequenceGeneration{opened.kind}")
    drawing, genes = of_kind(opened.model, opened.genes), opened.genes
    v = tuple(_v_gene(name, part, whole) for name, part, whole in genes.genV)
    j = tuple(_j_gene(name, part, whole) for name, part, whole in genes.genJ)
    d = tuple(Gene(name.strip(), whole) for name, whole in getattr(genes, "genD", ()))
    cut = [drawing.cutV_genomic_CDR3_segs, getattr(drawing, "cutD_genomic_CDR3_segs", ())]
    of_v, of_d, of_j = map(ragged_of, [*cut, drawing.cutJ_genomic_CDR3_segs])
    return drawing, Ends(v, d, j, of_v, of_d, of_j, *_palindromes(genes))


def _v_gene(name: str, part: str, whole: str) -> Gene:
    return Gene(name, part[CODON:], part[:CODON], whole[: len(whole) - len(part)])


def _j_gene(name: str, part: str, whole: str) -> Gene:
    return Gene(name, part[:-CODON], part[-CODON:], whole[len(part) :])


def _palindromes(genes: OlgaGenes) -> Sequence[int]:
    names = ("delV", "delDl", "delDr", "delJ")
    return [int(getattr(genes, f"max_{name}_palindrome", 0) or 0) for name in names]
