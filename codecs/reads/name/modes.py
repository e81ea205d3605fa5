"""Which way to code each stream, by cost in integers: tables are counted, and few of them are kept.

Choices are made of some windows, the pilots, and scaled to all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.reads.entropy.logs import FRACTION
from gangsaw.codecs.reads.entropy.rans import Tokens
from gangsaw.codecs.reads.lines import Places
from gangsaw.codecs.reads.name.contexts import (
    SOURCES,
    SYMBOLS,
    TABLES_OF,
    count_pairs,
    count_streams,
    mode_costs,
    no_memory,
    note_contexts,
)
from gangsaw.codecs.reads.name.streams import ABSENT, ALONE, MOST_TABLES, N_MODES, N_STREAMS

MOST_NOTED = 1 << 15  # tokens of a pilot
TABLE_PRICE = 64 << FRACTION  # bits that a table must save beyond what it takes: they fill caches


class Part(NamedTuple):
    """Some windows as tokens, whose tables are streams.

    Attributes
    ----------
    tokens : of all, in reading order
    ends : (n_windows,) int64, where those of each window end
    """

    tokens: Tokens
    ends: Places


def chosen_modes(parts: list[Part], pilots: Places) -> npt.NDArray[np.uint8]:
    """Return (N_STREAMS,) modes of what is said, from those parts that are pilots."""
    totals = np.zeros(N_STREAMS, np.int64)
    for part in parts:
        count_streams(part.tokens.tables, totals)
    costs = stream_costs(_noted([parts[i] for i in pilots]), totals)
    modes = np.where(totals > 0, ALONE, ABSENT).astype(np.uint8)
    best = costs.argmin(axis=1)
    savings = costs[:, ALONE] - costs[np.arange(N_STREAMS), best]
    left = MOST_TABLES - int((totals > 0).sum())
    for stream in np.argsort(-savings, kind="stable"):
        more = int(TABLES_OF[best[stream]]) - 1
        if savings[stream] > 0 and more <= left:
            modes[stream] = best[stream]
            left -= more
    return modes


def stream_costs(noted: npt.NDArray[np.uint16], totals: Places) -> npt.NDArray[np.int64]:
    """Return (N_STREAMS, N_MODES) costs; zeros for streams that have no choice.

    Parameters
    ----------
    noted : of `note_contexts`
    totals : (N_STREAMS,) bytes of each stream, also those that are not noted
    """
    order = np.argsort(noted[0], kind="stable")
    bounds = np.searchsorted(noted[0], np.arange(N_STREAMS + 1), sorter=order)
    counts = np.zeros((SOURCES, SYMBOLS, SYMBOLS), np.int32)
    costs = np.zeros((N_STREAMS, N_MODES), np.int64)
    for stream in np.flatnonzero(np.diff(bounds)):
        own = order[bounds[stream] : bounds[stream + 1]]
        if (noted[1, own] == noted[1, own[0]]).all():
            continue
        counts[:] = 0
        count_pairs(noted, own, counts)
        mode_costs(counts, (int(totals[stream]) << 8) // own.size, costs[stream])
    costs += TABLE_PRICE * TABLES_OF * (costs > 0)
    return costs


def _noted(pilots: list[Part]) -> npt.NDArray[np.uint16]:
    """Return what `note_contexts` notes of all pilots."""
    memory, out = no_memory(), []
    for part in pilots:
        most = min(MOST_NOTED, part.tokens.tables.size)
        noted = np.empty((2 + SOURCES, most), np.uint16)
        n = int(note_contexts(part.tokens, part.ends, memory, most, noted))
        out.append(noted[:, :n])
    return np.concatenate(out, axis=1)
