"""References in kernel form, and the properties of one reference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.tcr.counting.kernels.batch import Batch


class References(NamedTuple):
    """References of a batch with their V and J parts, as the arrays of Batch."""

    codes: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    v_of: npt.NDArray[np.int32]
    j_of: npt.NDArray[np.int32]

    @classmethod
    def of(cls, batch: Batch) -> References:
        """Return the references of a batch in host memory."""
        return cls(batch.references.codes, batch.references.starts, batch.v_of, batch.j_of)


class Reference(NamedTuple):
    """Reference with the matches of its V and J genes.

    Attributes
    ----------
    row : number of the reference
    length : of the reference
    v_length, j_length : of the germline parts
    v_match, j_match : matching symbols, including palindromes
    last_a, first_b : last boundary that a junction from V reaches, first one from J
    v_classes, j_classes : number of classes of the ends of V and J: 1, and one for each matching
        symbol of the palindrome
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
