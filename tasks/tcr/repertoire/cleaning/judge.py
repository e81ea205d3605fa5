"""Kernel that finds faults of CDR3s from their nucleotides."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.alphabet import A, G, T
from gangsaw.codecs.core.nucleotides.codes import SET_OF_LETTER
from gangsaw.codecs.core.numba.jit import jit

FINE: Final = 0
EMPTY: Final = 1
LETTER: Final = 2
LONG: Final = 3
FRAME: Final = 4
STOP: Final = 5


@jit
def judge(
    offsets: npt.NDArray[np.int32],
    data: npt.NDArray[np.uint8],
    longest: int,
    verdicts: npt.NDArray[np.int8],
    positions: npt.NDArray[np.int32],
) -> None:
    """Find the first fault of each CDR3, in the order EMPTY, LETTER, LONG, FRAME, STOP; else FINE.

    Stop codons are searched in the frame of the first nucleotide. A codon with wildcards counts
    only if all its readings are stop codons: TAR and TRA count, TRG does not, as it may be
    tryptophan.

    Parameters
    ----------
    offsets : (n + 1,) int32
        Start of each CDR3 in `data`.
    data : uint8
        ASCII nucleotides of all CDR3s.
    longest : maximum number of nucleotides
    verdicts : (n,) int8
        Output: the fault.
    positions : (n,) int32
        Output: index of the first invalid base, or of the stop codon.
    """
    for row in range(len(verdicts)):
        begin, end = offsets[row], offsets[row + 1]
        positions[row] = 0
        verdict = EMPTY if begin == end else FINE
        for at in range(begin, end):
            if SET_OF_LETTER[data[at]] == 0:
                verdict = LETTER
                positions[row] = at - begin
                break
        if verdict == FINE:
            if end - begin > longest:
                verdict = LONG
            elif (end - begin) % 3:
                verdict = FRAME
            else:
                for at in range(begin, end, 3):
                    if _is_stop(data, at):
                        verdict = STOP
                        positions[row] = at - begin
                        break
        verdicts[row] = verdict


@jit(part=True)
def _is_stop(data: npt.NDArray[np.uint8], at: int) -> bool:
    first = SET_OF_LETTER[data[at]]
    second, third = SET_OF_LETTER[data[at + 1]], SET_OF_LETTER[data[at + 2]]
    purines = (second | third) & ~(A | G) == 0
    return bool(first == T and purines and (second == A or third == A))
