"""E-values and bit scores of hits, from the statistics of gapped scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.genomics.align.sets.pairs import Places
from gangsaw.tasks.genomics.align.sets.scores import Scores
from gangsaw.tasks.genomics.align.statistics.significance import gapped_significance

Floats = npt.NDArray[np.float64]


class Expected(NamedTuple):
    """Statistical significance of each hit.

    Attributes
    ----------
    evalues : (n,) float64, expected number of random hits with its score or more
    bits : (n,) float64, its score in bits
    """

    evalues: Floats
    bits: Floats


def compute_evalues(scores: Scores, found: Places, lengths: Places, records: Places) -> Expected:
    """Return e-values and bit scores of hits.

    Parameters
    ----------
    scores : scores of the alignments
    found : (n,) scores of hits
    lengths : (n,) bases of their queries
    records : (r,) bases of the genome's records

    Raises
    ------
    BadParams : there are no statistics for these scores
    """
    own, residues = gapped_significance(scores), int(records.sum())
    sizes, which = np.unique(lengths, return_inverse=True)
    spaces = [own.effective(size, residues, max(1, records.size)) for size in sizes.tolist()]
    space = np.array([float(m) * n for m, n in spaces], np.float64)
    raw = own.scale * found
    bits = (raw - np.log(own.k)) / np.log(2)
    return Expected(own.k * space[which] * np.exp(-raw), bits)
