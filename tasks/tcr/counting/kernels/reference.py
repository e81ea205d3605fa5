"""References in kernel form, and the properties of one reference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.tcr.counting.kernels.batch import Batch


class References(NamedTuple):
    """Arrays of a `Batch` about its references: codes, offsets, and indices of V and J parts."""

    codes: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    v_of: npt.NDArray[np.int32]
    j_of: npt.NDArray[np.int32]

    @classmethod
    def of(cls, batch: Batch) -> References:
        """Return the references of a batch in host memory."""
        return cls(batch.references.data, batch.references.offsets, batch.v_of, batch.j_of)


class Reference(NamedTuple):
    """One reference of a batch, with lengths and matches of its V and J parts.

    Attributes
    ----------
    row : number of the reference in the batch
    length : nucleotides of the reference
    v_length, j_length : nucleotides of the germline parts, without palindromes
    v_match, j_match : nucleotides of V and J, with their palindromes, that match the reference
    last_a : last boundary at which the junction after V can end
    first_b : first boundary at which the junction before J can begin
    v_classes, j_classes : number of classes of the ends of V and J: class 0 has no palindrome,
        class p has p palindrome symbols
    """

    row: int
    length: int
    v_length: int
    j_length: int
    v_match: int
    j_match: int
    last_a: int
    first_b: int
    v_classes: int
    j_classes: int
