"""Counts without the D genes that a donor lacks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.tasks.tcr.germline.genotypes.genotypes import pairs_of
from gangsaw.tasks.tcr.model import Model

OF_CHOICES = ("paths_full", "paths_zero_length_d")
OF_GENES = ("dp1_paths", "dp1_paths_nonempty", "n1_composition", "n2_composition")
NO_MATCH = {"d_length": 0, "d_first": 1}  # SPEC.md, "Calls"


def forget_lacking(counted: Mapping[str, NumpyArray], has: NDArray[np.bool_], model: Model) -> None:
    """Set the counts of D genes that a donor lacks to 0, and their calls to "no match".

    Parameters
    ----------
    counted : variables of paths/dataset.py, n references; changed in place
    has : (n, D genes) bool
        True for genes that the donor of a reference has.
    model : limits of the paths
    """
    lacks = ~has
    if not lacks.any():
        return
    choices = lacks if model.d_segments == 1 else ~pairs_of(has)
    for names, wrong in ((OF_CHOICES, choices), (OF_GENES, lacks)):
        for name in names:
            if name in counted:
                counted[name][wrong] = 0
    for name, value in NO_MATCH.items():
        counted[name][lacks] = value
    row = np.nonzero(lacks)[0]
    counted["d_last"][lacks] = counted["length"][row]
    for distance, match in (("vd_distance", "v_match"), ("dj_distance", "j_match")):
        counted[distance][lacks] = np.negative(counted[match][row])
