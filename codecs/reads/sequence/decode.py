"""Decoder of lines, for separate windows (SPEC.md, Sequences). `pieces.py` decodes their pieces."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.entropy.rans_lanes import (
    begin_lane,
    get,
    get_number,
    get_raw,
    get_small,
    is_whole,
)
from gangsaw.codecs.core.entropy.sparse_tables import ABSENT
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.lines import NEWLINE, SPAN, SPAN_BEGIN, SPAN_END, SPAN_LINES, Text
from gangsaw.codecs.reads.sequence import syntax
from gangsaw.codecs.reads.sequence.bases import copy_bases
from gangsaw.codecs.reads.sequence.dictionary import Dictionary
from gangsaw.codecs.reads.sequence.exceptions import get_exceptions
from gangsaw.codecs.reads.sequence.pieces import Window, get_pieces


class Windows(NamedTuple):
    """Windows of reads to decode, with properties of their block.

    Attributes
    ----------
    data : (n,) uint8 that contains their lanes
    begins, ends : (n_windows,) int64, offsets of the lanes
    first : number of the first window
    lane : bytes of a window
    used : bytes of the block's text
    is_open : True if the last line of the block has no newline
    is_sorted, is_steady, pairs : flags of the block, and True if mates are in pairs
    """

    data: Text
    begins: Int64s
    ends: Int64s
    first: int
    lane: int
    used: int
    is_open: bool
    is_sorted: bool
    is_steady: bool
    pairs: bool


def decode_windows(windows: Windows, dictionary: Dictionary, out: Text) -> Int64s:
    """Decode windows one after the other.

    Parameters
    ----------
    out : (n,) uint8, which begins with the first window; each window is written to its range, and
        nothing outside of it but the end of its last line

    Returns
    -------
    (n_windows, 3) int64: start and end of each window's lines in `out`, and their number; -1 if its
    lane is empty, -2 if it is invalid
    """
    spans = np.full((windows.begins.size, SPAN), -1, np.int64)
    fill_windows(windows, dictionary, np.zeros(syntax.MEMORY, np.int64), out, spans)
    return spans


@jit(norefs=True)
def fill_windows(
    windows: Windows, dictionary: Dictionary, memory: Int64s, out: Bytes, spans: Int64s
) -> None:
    """Decode all windows that are not empty; set their `spans`, which are all -1.

    memory : (MEMORY,) int64 scratch for the state from earlier lines
    """
    for w in range(windows.begins.size):
        if windows.begins[w] < windows.ends[w]:
            begin, end, n = fill_window(windows, w, dictionary, memory, out)
            spans[w, SPAN_BEGIN], spans[w, SPAN_END], spans[w, SPAN_LINES] = begin, end, n


@jit(part=True, norefs=True)
def fill_window(
    windows: Windows, w: int, dictionary: Dictionary, memory: Int64s, out: Bytes
) -> tuple[int, int, int]:
    """Decode window w; return start and end of its lines, and their number."""
    data, stop, tables = windows.data, windows.ends[w], dictionary.tables
    x, at = begin_lane(data, windows.begins[w], stop)
    end, used = min((w + 1) * windows.lane, out.size), windows.used - windows.first * windows.lane
    text_end, open_end = min(used, out.size), used if windows.is_open else -1
    window = Window(
        data, stop, dictionary, memory, windows.is_sorted, windows.is_steady, windows.pairs, out,
        end, text_end, open_end,
    )  # fmt: skip
    memory[:] = 0
    odd = 0
    if at <= stop and windows.pairs:
        odd, x, at = get_raw(1, x, at, data, stop)
    if at <= stop and windows.is_sorted:
        memory[syntax.AT_PRIMARY], x, at = get_raw(syntax.PLACE_BITS, x, at, data, stop)
    if at > stop:
        return -2, -2, -2
    lead, x, at = get_number(tables, syntax.LEAD, x, at, data, stop)
    n, x, at = get_number(tables, syntax.LINES, x, at, data, stop)
    if n < 1:
        return -2, -2, -2
    begin = w * windows.lane + lead
    place = begin
    for i in range(n):
        if at > stop or place >= end or place >= text_end:
            return -2, -2, -2
        place, x, at = get_line(window, i > 0, odd, x, at, place)
        odd ^= windows.pairs
    if not is_whole(x, at, stop):
        return -2, -2, -2
    return begin, place, n


@jit(inline=True, part=True, norefs=True)
def get_line(
    window: Window, has_before: bool, odd: int, x: int, at: int, place: int
) -> tuple[int, int, int]:
    """Decode a line to out[place:]; return the offset after it, and the lane's state and offset.

    odd : 1 if the line is a second mate, else 0
    x, at : rANS state of the lane, and offset of its next word
    """
    data, stop, out, memory = window.data, window.stop, window.out, window.memory
    tables = window.dictionary.tables
    length = memory[syntax.AT_LENGTH]
    repeats = 0
    if window.is_sorted and not window.pairs and has_before:
        repeats, x, at = get(tables, syntax.REPEAT + memory[syntax.AT_REPEAT], x, at, data, stop)
        memory[syntax.AT_REPEAT] = repeats
    if not repeats:
        is_same, x, at = get(tables, syntax.SAME_LENGTH, x, at, data, stop)
        if not is_same:
            length, x, at = get_small(tables, syntax.LENGTH, syntax.REST, x, at, data, stop)
        memory[syntax.AT_LENGTH] = length
    end = place + length
    is_closed = end != window.open_end
    if at > stop or end + is_closed > window.text_end or not (is_closed or length):
        return place, x, at | ABSENT
    if repeats:
        copy_bases(out, place - length - 1, out, place, length, window.end)
    else:
        if not odd:
            memory[syntax.AT_MATE] = 0
        runs, x, at = get_exceptions(tables, x, at, data, stop, out, place, length)
        if length and at <= stop:
            x, at = get_pieces(window, odd, runs > 0, x, at, place, end)
    if is_closed:
        out[end] = NEWLINE
        return end + 1, x, at
    return end, x, at
