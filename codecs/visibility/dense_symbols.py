"""Symbols of the `dense` coder: how far a value lies above or below what its neighbours say.

A value is sign, exponent e and a fraction. Its neighbours give an exponent c; the symbol holds
e - c and, where the value is large, the first bits of the fraction: of Gaussian noise they are not
even. What is left of the fraction is stored as it is. SPEC.md, "dense".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.jit import jit_bare_inline

# octaves e - c whose symbol tells two, one, no bits of the fraction: from, to (descending)
QUARTERS = (4, -1)
HALVES = (-2, -3)
WHOLES = (-4, -27)
N_QUARTERS = 4 * (QUARTERS[0] - QUARTERS[1] + 1)
N_HALVES = 2 * (HALVES[0] - HALVES[1] + 1)
PLANE = N_QUARTERS + N_HALVES + WHOLES[0] - WHOLES[1] + 1  # 52
# the same once more for values that lie off the grid, then four that stand for themselves
ZERO = 2 * PLANE
MINUS_ZERO = ZERO + 1
FAVOURITE = ZERO + 2
ESCAPE = ZERO + 3
N_SYMBOLS = ZERO + 4


def _meanings() -> npt.NDArray[np.int64]:
    """(3, N_SYMBOLS): octave, bits of the fraction that are told, and those bits."""
    rows = [(k, 2, top) for k in range(QUARTERS[0], QUARTERS[1] - 1, -1) for top in range(4)]
    rows += [(k, 1, top) for k in range(HALVES[0], HALVES[1] - 1, -1) for top in range(2)]
    rows += [(k, 0, 0) for k in range(WHOLES[0], WHOLES[1] - 1, -1)]
    return np.array([*rows, *rows, *[(0, 0, 0)] * 4]).T


OCTAVE, TOLD, TOP = (np.ascontiguousarray(row) for row in _meanings())


@jit_bare_inline
def symbol_of(octave: int, quarter: int) -> int:
    """Return the symbol of an octave and the first two bits of the fraction; or ESCAPE."""
    if octave > 4 or octave < -27:
        return ESCAPE
    if octave >= -1:
        return 4 * (4 - octave) + quarter
    if octave >= -3:
        return N_QUARTERS + 2 * (-2 - octave) + (quarter >> 1)
    return N_QUARTERS + N_HALVES - 4 - octave

