"""Choice of the table mode of each stream by cost: tables cost memory, and their number is limited.

Costs are integers, computed for some sample windows (pilots) and scaled to all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.entropy.rans_lanes import Tokens
from gangsaw.codecs.reads.entropy.logs import FRACTION
from gangsaw.codecs.reads.name.choice.costs import allocate_cost_scratch, stream_costs
from gangsaw.codecs.reads.name.contexts import (
    TABLES_OF,
    count_streams,
    no_memory,
    note_contexts,
)
from gangsaw.codecs.reads.name.streams import ABSENT, ALONE, MOST_TABLES, N_MODES, N_STREAMS

MOST_SAMPLED = 1 << 13  # tokens of a pilot that are noted
MOST_COUNTED = 1 << 13  # notes of a stream that are counted, spread over all of them
TABLE_PRICE = 8 << FRACTION  # bits that a table must save besides its own: tables fill caches


class WindowTokens(NamedTuple):
    """Coder tokens of some windows of names, which still have stream numbers as tables.

    Attributes
    ----------
    tokens : tokens of all windows, in reading order
    ends : (n_windows,) int64, end of each window's tokens
    """

    tokens: Tokens
    ends: Int64s


class Pilot(NamedTuple):
    """Range of sample windows from which the encoder estimates costs.

    Attributes
    ----------
    part : tokens of the group of windows that contains them
    first, stop : index of the first sample window in `part`, and of the one after the last
    """

    part: WindowTokens
    first: int
    stop: int


def chosen_modes(parts: list[WindowTokens], pilots: list[Pilot]) -> npt.NDArray[np.uint8]:
    """Choose the table mode of each stream, (N_STREAMS,), by its cost in sample windows."""
    totals = np.zeros(N_STREAMS, np.int64)
    for part in parts:
        count_streams(part.tokens.tables, totals)
    costs = mode_costs(pilots, totals)
    modes = np.where(totals > 0, ALONE, ABSENT).astype(np.uint8)
    best = costs.argmin(axis=1)
    savings = costs[:, ALONE] - costs[np.arange(N_STREAMS), best]
    left = MOST_TABLES - int((totals > 0).sum())
    for stream in np.argsort(-savings, kind="stable")[: int((savings > 0).sum())]:
        more = int(TABLES_OF[best[stream]]) - 1
        if more <= left:
            modes[stream] = best[stream]
            left -= more
    return modes


def mode_costs(pilots: list[Pilot], totals: Int64s) -> npt.NDArray[np.int64]:
    """Return the estimated cost of each table mode of each stream, (N_STREAMS, N_MODES).

    Streams without a choice have zeros.

    totals : (N_STREAMS,) bytes of each stream in the block
    """
    firsts = np.cumsum(totals) - totals
    places = firsts.copy()
    notes, memory = np.empty(int(totals.sum()), np.uint32), no_memory()
    for part, first, stop in pilots:
        begin = int(part.ends[first - 1]) if first else 0
        note_contexts(
            part.tokens, begin, part.ends[first:stop], MOST_SAMPLED, memory, places, notes
        )
    costs = np.zeros((N_STREAMS, N_MODES), np.int64)
    room = allocate_cost_scratch(MOST_COUNTED)
    stream_costs(notes, firsts, places, totals, room, costs)
    costs += TABLE_PRICE * TABLES_OF * (costs > 0)
    return costs
