"""Costs of a stream's bytes in each mode, estimated from samples of them, as integers.

Pairs of a byte and its context are sorted, not counted in tables of 256 by 256: most streams fill
little of these.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64, Int64s, UInt32s
from gangsaw.codecs.core.entropy.gamma import bit_length
from gangsaw.codecs.core.entropy.rans_tables import PRECISION
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.entropy.logs import FRACTION, scaled_log2
from gangsaw.codecs.reads.name.contexts import CLASSES, LENGTHS, SOURCES, SYMBOLS
from gangsaw.codecs.reads.name.streams import ABSENT, ALONE, BEFORE, RAW

SYMBOL_PRICE = 6  # bits that one more symbol of a table may take
NO_TABLE = 1 << FRACTION
MULTIPLIER = 1664525  # D. E. Knuth and H. W. Lewis, of a linear congruential generator
IMPOSSIBLE = 1 << 60


class CostScratch(NamedTuple):
    """Scratch memory to compute the cost of each table mode of one stream of name bytes.

    Attributes
    ----------
    some, by_byte, by_source : (n,) uint32, notes of the stream (`note_contexts`): a sample of them,
        then the notes sorted by their byte and by a context byte
    bounds : (SYMBOLS + 1,) int64, start of each value in the last sorted array
    symbols, counts : (SYMBOLS,) int64, bytes that occur in one table, ascending, and how often
    short : (LENGTHS, SYMBOLS) int64, byte counts by bit length of the context byte
    """

    some: npt.NDArray[np.uint32]
    by_byte: npt.NDArray[np.uint32]
    by_source: npt.NDArray[np.uint32]
    bounds: npt.NDArray[np.int64]
    symbols: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    short: npt.NDArray[np.int64]


class StreamCosts(NamedTuple):
    """Common inputs of the costs of all tables of one stream of name bytes.

    Attributes
    ----------
    scale : bytes of the whole stream per 256 bytes in the sample
    n_symbols : number of different bytes in the sample
    novel : cost of a byte that the sample lacks: the mean cost of a byte
    """

    scale: int
    n_symbols: int
    novel: int


def allocate_cost_scratch(n: int) -> CostScratch:
    """Return scratch memory for streams with at most n counted bytes."""
    some, by_byte, by_source = np.empty((3, n), np.uint32)
    symbols, counts = np.zeros((2, SYMBOLS), np.int64)
    bounds, short = np.zeros(SYMBOLS + 1, np.int64), np.zeros((LENGTHS, SYMBOLS), np.int64)
    return CostScratch(some, by_byte, by_source, bounds, symbols, counts, short)


@jit(norefs=True)
def stream_costs(
    notes: UInt32s,
    firsts: Int64s,
    ends: Int64s,
    totals: Int64s,
    scratch: CostScratch,
    costs: Int64s,
) -> None:
    """Estimate the cost of each table mode for each stream of name bytes.

    Streams with a single byte value have no choice, and keep zeros.

    Parameters
    ----------
    notes : (n,) uint32, bytes with their context bytes, see `note_contexts`
    firsts, ends : (N_STREAMS,) int64, range of each stream's notes
    totals : (N_STREAMS,) int64, bytes of each stream, noted or not
    scratch : `CostScratch`
    costs : zeroed (N_STREAMS, N_MODES) int64, filled, in units of 2^-FRACTION bits
    """
    for stream in range(totals.size):
        own = notes[firsts[stream] : ends[stream]]
        if own.size > scratch.some.size:
            _draw(own, scratch.some)
            own = scratch.some
        if own.size:
            _mode_costs(own, totals[stream], scratch, costs[stream])


@jit(inline=True, part=True, norefs=True)
def _draw(notes: UInt32s, out: UInt32s) -> None:
    """Draw one random note from each of `out.size` equal parts of the notes.

    At a fixed step all notes may be of one mate: names of mates alternate.
    """
    step, state = notes.size // out.size, np.uint32(1)
    for i in range(out.size):
        state = np.uint32(state * np.uint32(MULTIPLIER) + np.uint32(1))
        out[i] = notes[i * step + (np.int64(state >> np.uint32(16)) * step >> 16)]


@jit(part=True, norefs=True)
def _mode_costs(notes: UInt32s, total: int, scratch: CostScratch, costs: Int64s) -> None:
    """Write the cost of each table mode of one stream, (N_MODES,), from its notes.

    total : bytes of the stream, noted or not
    """
    n = notes.size
    _sort(notes, n, 0, scratch.bounds, scratch.by_byte)
    k = 0
    for s in range(SYMBOLS):
        if scratch.bounds[s] < scratch.bounds[s + 1]:
            scratch.symbols[k], scratch.counts[k] = s, scratch.bounds[s + 1] - scratch.bounds[s]
            k += 1
    if k == 1:
        return
    scale = (total << 8) // n
    novel = _entropy(scratch.counts, k, n) // n
    stream = StreamCosts(scale, k, novel)
    costs[ABSENT] = IMPOSSIBLE
    costs[RAW] = (n * scale >> 8) * 8 << FRACTION
    costs[ALONE] = _table_cost(scratch, k, n, stream)
    for source in range(SOURCES):
        _sort(scratch.by_byte, n, 8 + 8 * source, scratch.bounds, scratch.by_source)
        mode = BEFORE + 2 * source
        costs[mode + 1] = _long_cost(scratch, stream)
        costs[mode] = _short_cost(scratch, stream)


@jit(inline=True, part=True, norefs=True)
def _sort(notes: UInt32s, n: int, shift: int, bounds: Int64s, out: UInt32s) -> None:
    """Sort notes stably by the 8 bits from bit `shift` on; set `bounds` to each value's start."""
    bounds[:] = 0
    for i in range(n):
        bounds[1 + (np.int64(notes[i]) >> shift & 255)] += 1
    for value in range(SYMBOLS):
        bounds[value + 1] += bounds[value]
    for i in range(n):
        own = np.int64(notes[i]) >> shift & 255
        out[bounds[own]] = notes[i]
        bounds[own] += 1
    for value in range(SYMBOLS, 0, -1):
        bounds[value] = bounds[value - 1]
    bounds[0] = 0


@jit(part=True, norefs=True)
def _long_cost(scratch: CostScratch, stream: StreamCosts) -> int:
    """Return the cost of one table per value of a context byte.

    It also counts the coded bytes by bit length of the context byte, in `scratch.short`.
    """
    cost = np.int64(0)
    scratch.short[:] = 0
    for value in range(SYMBOLS):
        begin, end = scratch.bounds[value], scratch.bounds[value + 1]
        if begin == end:
            cost += NO_TABLE
            continue
        k = _count_runs(scratch, begin, end)
        length = CLASSES[BEFORE * SYMBOLS + value]
        for i in range(k):
            scratch.short[length, scratch.symbols[i]] += scratch.counts[i]
        cost += _table_cost(scratch, k, end - begin, stream)
    return int(cost)


@jit(inline=True, part=True, norefs=True)
def _count_runs(scratch: CostScratch, begin: int, end: int) -> int:
    """Write the distinct bytes of some sorted notes, and their counts; return how many there are.

    begin, end : range of the notes in `scratch.by_source`
    """
    before: Any = np.int64(scratch.by_source[begin]) & 255
    k, first = 0, begin
    for i in range(begin + 1, end):
        symbol = np.int64(scratch.by_source[i]) & 255
        if symbol != before:
            scratch.symbols[k], scratch.counts[k] = before, i - first
            k, first, before = k + 1, i, symbol
    scratch.symbols[k], scratch.counts[k] = before, end - first
    return k + 1


@jit(part=True, norefs=True)
def _short_cost(scratch: CostScratch, stream: StreamCosts) -> int:
    """Return the cost of one table per bit length of a context byte."""
    cost = np.int64(0)
    for length in range(LENGTHS):
        k, total = 0, np.int64(0)
        for symbol in range(SYMBOLS):
            n = scratch.short[length, symbol]
            if n:
                scratch.symbols[k], scratch.counts[k] = symbol, n
                k, total = k + 1, total + n
        cost += _table_cost(scratch, k, total, stream) if k else NO_TABLE
    return int(cost)


@jit(part=True, norefs=True)
def _table_cost(scratch: CostScratch, k: int, total: Int64, stream: StreamCosts) -> int:
    """Return the cost of a table of k symbols, and of its symbols, scaled to the whole stream.

    The entropy of the counts is too low if counts are small. The cost as if each symbol had not
    been counted is too high, by as much. The right cost for `scale` is in between.
    """
    whole = scaled_log2(total)
    novel: Any = stream.scale - 256  # of 256: bytes that are not counted
    once, as_counted, as_new = np.int64(0), np.int64(0), np.int64(0)
    bits, before = np.int64(9 - 2 * k), np.int64(-1)
    for i in range(k):
        n = scratch.counts[i]
        bits += 2 * bit_length(scratch.symbols[i] - before)
        before = scratch.symbols[i]
        if n == 1:
            once += 1
        else:
            own = scaled_log2(n)
            bits += 2 * _share_bits(own, whole)
            as_counted += n * (whole - own)
            as_new += n * (whole - scaled_log2(n - 1))
    bits += 2 * once * _share_bits(0, whole)
    bits += min(stream.n_symbols - k, once * novel >> 8) * SYMBOL_PRICE
    cost = (as_counted >> 9) * (stream.scale + 256) + (as_new >> 9) * novel
    if once:
        cost += once * whole + (once * (whole - scaled_log2(once) + stream.novel) >> 8) * novel
    return int((bits << FRACTION) + cost)


@jit(inline=True, part=True, norefs=True)
def _share_bits(own: int, whole: int) -> int:
    """Return the bit length of a scaled frequency, from log2 of its count and of the total."""
    return 1 + (max(0, own - whole + (PRECISION << FRACTION)) >> FRACTION)


@jit(inline=True, part=True, norefs=True)
def _entropy(counts: Int64s, k: int, total: int) -> int:
    """Return the entropy of k symbols with these counts, in 2^-FRACTION bits."""
    whole, cost = scaled_log2(total), np.int64(0)
    for i in range(k):
        cost += counts[i] * (whole - scaled_log2(counts[i]))
    return int(cost)
