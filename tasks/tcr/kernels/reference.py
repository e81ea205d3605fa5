"""References as kernels take them, and what kernels know of one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.tcr.kernels.batch import Batch


class References(NamedTuple):
    """The references of a batch, and the parts that each has: arrays of Batch."""

    codes: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]
    v_of: npt.NDArray[np.int32]
    j_of: npt.NDArray[np.int32]

    @classmethod
    def of(cls, batch: Batch) -> References:
        """Return those of a batch in host memory."""
        return cls(batch.references.codes, batch.references.starts, batch.v_of, batch.j_of)


class Reference(NamedTuple):
    """One reference and how its V and J match it.

    Attributes
    ----------
    row : number of the reference
    length : of the reference
    v_length, j_length : of the germline parts
    v_match, j_match : symbols that match, palindromes included
    last_a, first_b : boundaries beyond which no junction reaches from V, from J
    v_classes, j_classes : how many classes of the ends of V and J there are: 1, and one for each
        symbol of the palindrome that matches
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
