"""Runs of bases as symbols of four, in the context of the previous base (SPEC.md, Fours)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.entropy.rans_lanes import Tokens, get, put
from gangsaw.codecs.core.entropy.sparse_tables import RansTables
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.nucleotides.kernels import is_base, letter_of
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.words import store_le64
from gangsaw.codecs.reads.sequence.bases import FOURS
from gangsaw.codecs.reads.sequence.syntax import TAIL


@jit(inline=True, part=True, norefs=True)
def put_fours(tokens: Tokens, n: int, table: int, codes: Bytes, begin: int, end: int) -> int:
    """Append the bases of codes[begin:end], four per token; return the number of tokens."""
    before: Any = 0
    four: Any = 0
    n_waiting = 0
    for i in range(begin, end):
        code = np.int64(codes[i])
        if code < NOT_A_BASE:
            four, n_waiting = four << 2 | code, n_waiting + 1
            if n_waiting == 4:
                n = put(tokens, n, table + before, four)
                before, four, n_waiting = code, 0, 0
    return put(tokens, n, TAIL + n_waiting - 1, four) if n_waiting else n


@jit(inline=True, part=True, norefs=True)
def get_fours(
    tables: RansTables,
    t: int,
    x: int,
    at: int,
    data: Bytes,
    stop: int,
    out: Bytes,
    place: int,
    n: int,
    end: int,
) -> tuple[int, int]:
    """Decode n bases, four per symbol, to out[place:]; return the lane's state and offset.

    Up to `end`, `out` has no valid bytes yet, and may be overwritten.
    """
    before, four, last = 0, 0, place + n
    while last - place >= 4:
        four, x, at = get(tables, t + before, x, at, data, stop)
        if place + 8 <= end:
            store_le64(out, place, FOURS[four])
        else:
            for i in range(4):
                out[place + i] = letter_of(four >> 6 - 2 * i & 3)
        before, place = four & 3, place + 4
    if place < last:
        four, x, at = get(tables, TAIL + last - place - 1, x, at, data, stop)
    for i in range(last - place):
        out[place + i] = letter_of(four >> 2 * (last - place - 1 - i) & 3)
    return x, at


@jit(inline=True, part=True, norefs=True)
def get_fours_between(
    tables: RansTables,
    t: int,
    x: int,
    at: int,
    data: Bytes,
    stop: int,
    out: Bytes,
    place: int,
    end: int,
) -> tuple[int, int]:
    """Write bases like `get_fours`, but only where out[place:end] has bases: other bytes stay."""
    n = 0
    for i in range(place, end):
        n += is_base(out[i])
    before, four, n_waiting = 0, 0, 0
    for i in range(place, end):
        if not is_base(out[i]):
            continue
        if n_waiting == 0:
            n_waiting = min(n, 4)
            if n_waiting == 4:
                four, x, at = get(tables, t + before, x, at, data, stop)
            else:
                four, x, at = get(tables, TAIL + n_waiting - 1, x, at, data, stop)
            before, n = four & 3, n - n_waiting
        n_waiting -= 1
        out[i] = letter_of(four >> 2 * n_waiting & 3)
    return x, at
