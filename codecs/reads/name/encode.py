"""Encoder of names: lines to coder tokens, tokens to tables, chosen by cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.entropy import rans_lanes
from gangsaw.codecs.core.entropy.sparse_tables import SYMBOLS, normalised, stored_tables
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.reads.lines import Lines, Text
from gangsaw.codecs.reads.name.choice.modes import Pilot, WindowTokens, chosen_modes
from gangsaw.codecs.reads.name.choice.policy import chosen_differences
from gangsaw.codecs.reads.name.columns import DIFFERENCES, NameLines, most_tokens, write_name_tokens
from gangsaw.codecs.reads.name.contexts import assign_tables, no_memory
from gangsaw.codecs.reads.name.model import first_tables, stored_modes, stored_template
from gangsaw.codecs.reads.name.split import split_line
from gangsaw.codecs.reads.name.streams import COLUMNS, N_STREAMS, no_cuts
from gangsaw.codecs.reads.payload import Coded

LONGEST_TEMPLATE = 1 << 12  # bytes: a longer line costs much if there are few windows
PART = 1 << 18  # bytes, or one window: unit of work of a thread
PILOTS = 32  # groups of windows that choices are based on
PILOT = 1 << 16  # bytes, or one window
Windows = tuple[int, int]  # the first one, and the one after the last
MOST_LINES = 256  # of a pilot's window, for the choice of differences
T = TypeVar("T")
ItemT = TypeVar("ItemT")


def encode_names(lines: Lines, pairs: bool) -> Coded | None:
    """Return the coded form of a block of names; None if it has no lines."""
    if not lines.starts.size:
        return None
    groups = _groups(lines, PART)
    pilots = _pilots(lines)
    source = _source(lines, pilots)
    parts = _each(lambda group: written(source, *group), groups)
    modes = chosen_modes(parts, _found(pilots, groups, parts))
    n_tables, base = first_tables(modes)
    _each(lambda part: assign_tables(part.tokens, part.ends, no_memory(), modes, base), parts)
    frequencies = normalised(_counted(parts, n_tables))
    entries = rans_lanes.build_symbol_table(frequencies)
    lanes = _each(lambda part: _encoded(part, entries), parts)
    head = np.concatenate((stored_modes(modes), stored_tables(frequencies)))
    shared = stored_template(source.text, source.template.places[: source.n_template + 1])
    data, sizes = (np.concatenate([lane[i] for lane in lanes]) for i in range(2))
    return Coded(0, head, shared, data, sizes)


def written(source: NameLines, first: int, stop: int) -> WindowTokens:
    """Return the coder tokens of windows first to stop - 1."""
    capacity = rans_lanes.tokens_of(most_tokens(source, first, stop))
    ends = np.zeros(stop - first, np.int64)
    n = int(write_name_tokens(source, first, stop, no_cuts(), capacity, ends))
    return WindowTokens(
        rans_lanes.Tokens(capacity.tables[:n].copy(), capacity.symbols[:n].copy()), ends
    )


def _counted(parts: Sequence[WindowTokens], n_tables: int) -> npt.NDArray[np.int64]:
    """Return how often each symbol of each table occurs in all parts, (n_tables, 256) int64."""
    counts = np.zeros((n_tables, SYMBOLS), np.int64)
    for part in parts:
        rans_lanes.count_tokens(part.tokens.tables, part.tokens.symbols, counts)
    return counts


def _encoded(part: WindowTokens, entries: npt.NDArray[np.uint32]) -> tuple[Text, Int64s]:
    """Return the rANS lanes of a group of windows, and the bytes of each."""
    n, n_windows = part.tokens.tables.size, part.ends.size
    out = np.empty(2 * n + rans_lanes.STATE_BYTES * n_windows, np.uint8)
    sizes = np.zeros(n_windows, np.int64)
    begin = int(rans_lanes.encode_lanes(part.tokens, part.ends, entries, out, sizes))
    return out[begin:].copy(), sizes


def _source(lines: Lines, pilots: Sequence[Windows]) -> NameLines:
    """Return the lines with the encoder's choices, based on the sample windows `pilots`."""
    template = no_cuts()
    n = 0
    if lines.ends[0] <= LONGEST_TEMPLATE:
        n = int(split_line(lines.text, 0, int(lines.ends[0]), template))
    rest = (lines.text, lines.starts, lines.ends, lines.windows, lines.lane, template, n)
    both = NameLines(*rest, np.ones((COLUMNS, DIFFERENCES), np.bool_), MOST_LINES, True)
    counts = _counted([written(both, *group) for group in pilots], N_STREAMS)
    chosen = chosen_differences(counts)
    return NameLines(*rest, chosen, lines.starts.size, False)


def _groups(lines: Lines, n_bytes: int) -> list[Windows]:
    """Divide all windows into groups of n_bytes bytes; return first and end window of each."""
    step = max(1, n_bytes // lines.lane)
    firsts = range(0, lines.n_windows, step)
    return [(first, min(first + step, lines.n_windows)) for first in firsts]


def _pilots(lines: Lines) -> list[Windows]:
    """Return groups of sample windows for the encoder's choices, spread over the block."""
    groups = _groups(lines, PILOT)
    with_lines = [(a, b) for a, b in groups if lines.windows[a] < lines.windows[b]]
    return [with_lines[i] for i in np.unique(np.arange(PILOTS) * len(with_lines) // PILOTS)]


def _found(
    pilots: Sequence[Windows], groups: Sequence[Windows], parts: Sequence[WindowTokens]
) -> list[Pilot]:
    """Return the groups of sample windows as ranges of the parts that contain them."""
    firsts = [first for first, _ in groups]
    owners = np.searchsorted(firsts, [first for first, _ in pilots], side="right") - 1
    return [
        Pilot(parts[i], a - firsts[i], b - firsts[i])
        for i, (a, b) in zip(owners, pilots, strict=True)
    ]


def _each(function: Callable[[ItemT], T], items: Sequence[ItemT]) -> list[T]:
    """Return function(item) of each item, in parallel."""
    out: dict[int, T] = {}

    def one(i: int) -> None:
        out[i] = function(items[i])

    run_blocks(one, len(items))
    return [out[i] for i in range(len(items))]
