"""Coding of the kind "name"."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.reads.coding import of_lines
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.name.contexts import no_memory
from gangsaw.codecs.reads.name.decode import read_window
from gangsaw.codecs.reads.name.decoder_state import NameLane, NameModel
from gangsaw.codecs.reads.name.encode import encode_names
from gangsaw.codecs.reads.name.model import read_model
from gangsaw.codecs.reads.name.streams import no_cuts
from gangsaw.codecs.reads.payload import BlockLanes, check_spans, clear_rest

WINDOWS = 4  # windows that a thread decodes at a time


def decode_name_lanes(payload: BlockLanes, out: Text, pairs: bool) -> None:
    """Decode a block of names; raise CorruptChunk if its lanes are no lanes of such a block."""
    model = read_model(payload)
    text = out[: payload.head.used]
    found = np.zeros((payload.n_windows, 3), np.int64)
    there = np.flatnonzero(payload.there)  # few in a partial read

    def decode_some(group: int) -> None:
        windows = there[group * WINDOWS : (group + 1) * WINDOWS]
        found[windows] = decode_windows(payload, model, windows, text)

    run_blocks(decode_some, -(-there.size // WINDOWS))
    check_spans(payload, found)
    clear_rest(payload, out)


def decode_windows(
    payload: BlockLanes, model: NameModel, windows: Int64s, text: Text
) -> npt.NDArray[np.int64]:
    """Decode windows of names into their block's text; return each start, end and line count.

    windows : numbers of the windows, whose lanes are not empty

    The result is (n, 3) int64; an end of -1 means an invalid lane.
    """
    found = np.zeros((windows.size, 3), np.int64)
    memory, room, state = no_memory(), (no_cuts().places, no_cuts().places), np.zeros(2, np.int64)
    for i, window in enumerate(windows):
        state[1] = payload.begins[window]
        lane = NameLane(payload.data, int(payload.ends[window]), state, memory)
        begin, is_open = int(window) * payload.lane, payload.head.is_open
        end = min(begin + payload.lane, text.size)
        found[i] = read_window(model, lane, text, begin, end, is_open, room)
    return found


NAME = of_lines(encode_names, decode_name_lanes)
