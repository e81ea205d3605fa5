"""Gapped alignment of reads that match their genes on no single diagonal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.tasks.genomics.align import Alignments, Scores, SequenceSet, smith_waterman
from gangsaw.tasks.tcr.annotation.index import GeneCodes, Ints
from gangsaw.tasks.tcr.annotation.kernels.reads import CODON

SCORES = Scores()
GAP = SCORES.gap_open + SCORES.gap_extend + SCORES.match  # penalty of one deleted base
WRONG = SCORES.match - SCORES.mismatch


class Junctions(NamedTuple):
    """Start and end of the junction in each read (n,), and a mask of reads with both ends."""

    firsts: Ints
    lasts: Ints
    fit: NDArray[np.bool_]


def align_junctions(
    reads: SequenceSet, v: Ints, j: Ints, genes: GeneCodes, tolerated: float
) -> Junctions:
    """Align reads with the frames of their V and J genes (Smith-Waterman); return the junctions.

    A read fits if both alignments reach the conserved codons. Each may have the tolerated share of
    mismatches, and a gap of one base.

    Parameters
    ----------
    reads : n reads in the genes' direction
    v, j : (n,) int64
        Numbers of their V and J genes.
    """
    codes, offsets, codons = genes
    of_v = SequenceSet.gather(codes, offsets[v], offsets[v] + codons[v] + CODON)
    of_j = SequenceSet.gather(codes, offsets[j] + codons[j], offsets[j + 1])
    left, right = (smith_waterman(reads, own, SCORES) for own in (of_v, of_j))
    fit = (left.target_end == of_v.lengths) & (right.target_start == 0)
    for own in (left, right):
        fit &= _is_like(own, tolerated)
    return Junctions(left.query_end - CODON, right.query_start + CODON, fit)


def _is_like(found: Alignments, tolerated: float) -> NDArray[np.bool_]:
    letters = found.target_end - found.target_start
    like: NDArray[np.bool_] = found.score >= (SCORES.match - WRONG * tolerated) * letters - GAP
    return like
