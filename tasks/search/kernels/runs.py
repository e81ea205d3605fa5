"""Split of a text into runs of bases, at other letters and at record borders."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit

BREAK = 0  # code of a break; bases are 1..4


@jit(norefs=True)
def split_base_runs(codes: Any, borders: Any, text: Any, text_starts: Any, starts: Any) -> Any:
    """Copy the runs of bases to a text with one break between; return number of runs and letters.

    Parameters
    ----------
    codes : (n,) uint8: 0..3 are bases
    borders : (b,) int64, record borders, ascending
    text : (n + r,) uint8, filled
    text_starts : (r,) int64, large enough for all runs, filled: starts of runs in `text`
    starts : (r,) int64, filled: starts of runs in `codes`
    """
    runs, used, border, is_inside = 0, 0, 0, False
    for at in range(codes.size):
        while border < borders.size and borders[border] <= at:
            is_inside, border = False, border + 1
        if codes[at] > 3:
            is_inside = False
            continue
        if not is_inside:
            if runs:
                text[used] = BREAK
                used += 1
            text_starts[runs], starts[runs] = used, at
            runs, is_inside = runs + 1, True
        text[used] = codes[at] + np.uint8(1)
        used += 1
    return runs, used
