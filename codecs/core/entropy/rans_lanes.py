"""Coder with one rANS state per lane (J. Duda, 2013), which codes all tokens in reading order.

The encoder processes the tokens of a lane backwards. codecs/reads/SPEC.md, "Entropy coder".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes, Int64, Int64s, UInt16s, UInt32s
from gangsaw.codecs.core.entropy.gamma import bit_length
from gangsaw.codecs.core.entropy.rans_tables import FREQUENCY, LOWEST, OFFSET, PRECISION, TOTAL
from gangsaw.codecs.core.entropy.sparse_tables import ABSENT, PLACE, SYMBOLS, RansTables
from gangsaw.codecs.core.numba.jit import jit

RAW = 60000  # "table" RAW + n of a token: its symbol is n raw bits, at most PRECISION
STATE_BYTES = 4
ESCAPE = 255  # symbol of a small number that announces more
MOST_BITS = 40  # largest bit length of a number


class Tokens(NamedTuple):
    """Symbols to encode with rANS, of all lanes in reading order, each with its frequency table.

    Attributes
    ----------
    tables : (n,) uint16, frequency table of each symbol, or RAW + b for b raw bits
    symbols : (n,) uint16, symbol 0 to 255, or the raw bits
    """

    tables: npt.NDArray[np.uint16]
    symbols: npt.NDArray[np.uint16]


def tokens_of(n: int) -> Tokens:
    """Return uninitialised `Tokens` of length n."""
    return Tokens(np.empty(n, np.uint16), np.empty(n, np.uint16))


@jit(inline=True, part=True, norefs=True)
def put(tokens: Tokens, n: int, table: Int64, symbol: Int64) -> int:
    """Append a symbol with its table to `tokens`, which has n filled items; return n + 1."""
    tokens.tables[n] = table
    tokens.symbols[n] = symbol
    return n + 1


@jit(inline=True, part=True, norefs=True)
def put_raw(tokens: Tokens, n: int, bits: Int64, value: Int64) -> int:
    """Append the `bits` lowest bits of a value as raw tokens; return the new number of tokens.

    High bits come first, up to PRECISION bits per token.
    """
    while bits > 0:
        part = min(bits, PRECISION)
        bits -= part
        n = put(tokens, n, RAW + part, value >> bits & (1 << part) - 1)
    return n


@jit(inline=True, part=True, norefs=True)
def put_number(tokens: Tokens, n: int, table: Int64, value: Int64) -> int:
    """Append a number >= 0 as its bit length, then its lower bits raw; return the token count."""
    bits = bit_length(value)
    n = put(tokens, n, table, bits)
    return put_raw(tokens, n, bits - 1, value)


@jit(inline=True, part=True, norefs=True)
def put_small(tokens: Tokens, n: int, table: Int64, rest: Int64, value: Int64) -> int:
    """Append a number that is mostly below ESCAPE; return the new number of tokens.

    Larger numbers are the symbol ESCAPE, then the excess by `put_number` with table `rest`.
    """
    n = put(tokens, n, table, min(value, ESCAPE))
    if value >= ESCAPE:
        n = put_number(tokens, n, rest, value - ESCAPE)
    return n


@jit
def count_tokens(tables: UInt16s, symbols: UInt16s, counts: Int64s) -> None:
    """Add the number of tokens of each table and symbol to `counts`, (n_tables, 256).

    Raw tokens are not counted.
    """
    for i in range(tables.size):
        if tables[i] < RAW:
            counts[tables[i], symbols[i]] += 1


def build_symbol_table(frequencies: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint32]:
    """Build the encoder's table from (n_tables, 256) frequencies: (n_tables * 256,) uint32.

    An entry has the frequency of a symbol in the lower 16 bits, and its first slot above.
    """
    wide = frequencies.astype(np.uint32)
    firsts = np.cumsum(wide, axis=1, dtype=np.uint32) - wide
    return (wide | firsts << np.uint32(16)).ravel()


@jit
def encode_lane(tables: UInt16s, symbols: UInt16s, entries: UInt32s, out: Bytes, end: int) -> int:
    """Encode the tokens of a lane with rANS so that it ends at out[end]; return its start offset.

    Parameters
    ----------
    tables, symbols : (n,) uint16, tokens of the lane
    entries : result of `build_symbol_table`
    out : (m,) uint8 with space for 2 n + STATE_BYTES bytes before `end`
    """
    x, at = np.uint64(LOWEST), end
    for i in range(tables.size - 1, -1, -1):
        t = np.int64(tables[i])
        if t >= RAW:
            shift = PRECISION - (t - RAW)
            f, start = np.uint64(1 << shift), np.uint64(np.int64(symbols[i]) << shift)
        else:
            entry = entries[t * SYMBOLS + np.int64(symbols[i])]
            f, start = np.uint64(entry & np.uint32(0xFFFF)), np.uint64(entry >> np.uint32(16))
        if x >= f << np.uint64(32 - PRECISION):
            at -= 2
            out[at], out[at + 1] = x & np.uint64(255), x >> np.uint64(8) & np.uint64(255)
            x >>= np.uint64(16)
        quotient = np.uint64(np.uint32(x) // np.uint32(f))
        x = (quotient << np.uint64(PRECISION)) + start + x - quotient * f
    at -= STATE_BYTES
    for k in range(STATE_BYTES):
        out[at + k] = x >> np.uint64(8 * k) & np.uint64(255)
    return at


@jit
def encode_lanes(tokens: Tokens, ends: Int64s, entries: UInt32s, out: Bytes, sizes: Int64s) -> int:
    """Encode all lanes with rANS, the last one up to the end of `out`; return the first start.

    Parameters
    ----------
    ends : (n_lanes,) int64, end index of each lane's tokens; a lane without tokens is empty
    sizes : (n_lanes,) int64, filled with the bytes of each lane
    """
    at = out.size
    for lane in range(ends.size - 1, -1, -1):
        first, end = ends[lane - 1] if lane else 0, at
        if first < ends[lane]:
            own = slice(first, ends[lane])
            at = encode_lane(tokens.tables[own], tokens.symbols[own], entries, out, at)
        sizes[lane] = end - at
    return at


def encoded_lanes(
    tokens: Tokens, ends: npt.NDArray[np.int64], frequencies: npt.NDArray[np.uint16]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Encode all lanes with rANS; return their concatenated bytes and the bytes of each lane.

    ends : (n_lanes,) int64, end index of each lane's tokens
    frequencies : (n_tables, 256), from `normalised`
    """
    n = int(ends[-1]) if ends.size else 0
    out = np.empty(2 * n + STATE_BYTES * ends.size, np.uint8)  # no token takes more than a word
    sizes = np.zeros(ends.size, np.int64)
    begin = encode_lanes(tokens, ends, build_symbol_table(frequencies), out, sizes)
    return out[int(begin) :], sizes


# A decoder represents a lane as (x, at): the state, and the offset of its next word. It never stops
# early: reads stay within the lane, loops end with the output, and at the end `is_whole` decides
# whether the lane was valid.


@jit(inline=True, part=True, norefs=True)
def begin_lane(data: Bytes, at: int, stop: int) -> Any:
    """Return the initial rANS state of the lane data[at:stop], and the offset of its first word.

    The offset has the bit ABSENT if the lane is too short for a state.
    """
    if stop - at < STATE_BYTES:
        return LOWEST, at | ABSENT
    x = (
        np.int64(data[at])
        | np.int64(data[at + 1]) << 8
        | np.int64(data[at + 2]) << 16
        | np.int64(data[at + 3]) << 24
    )
    return x, at + STATE_BYTES


@jit(inline=True, part=True, norefs=True)
def is_whole(x: Int64, at: int, stop: int) -> bool:
    """Return True if a decoder ended in the encoder's initial state, at the end of the lane."""
    return x == LOWEST and at == stop


@jit(inline=True, part=True, norefs=True)
def _refill(x: Int64, at: int, data: Bytes, stop: int) -> Any:
    """Append a word of the lane to the rANS state x if that is too low; return state and offset."""
    if x < LOWEST:
        place = min(at, stop - 2)  # STATE_BYTES precede it
        x = x << 16 | np.int64(data[place]) | np.int64(data[place + 1]) << 8
        at += 2
    return x, at


@jit(inline=True, part=True, norefs=True)
def get(tables: RansTables, t: Int64, x: Int64, at: int, data: Bytes, stop: int) -> Any:
    """Decode a symbol with table t; return it, the new state and the offset of the next word."""
    first = tables.first[t]
    entry = np.int64(tables.slots[(first & PLACE) + (x & TOTAL - 1)])
    frequency = (entry >> FREQUENCY & TOTAL - 1) + 1
    x = frequency * (x >> PRECISION) + (entry >> OFFSET)
    x, at = _refill(x, at | (first & ABSENT), data, stop)
    return entry & SYMBOLS - 1, x, at


@jit(inline=True, part=True, norefs=True)
def get_raw(bits: Int64, x: Int64, at: int, data: Bytes, stop: int) -> Any:
    """Decode a number of `put_raw`; return it, the new state and the offset of the next word."""
    value: Any = 0
    while bits > 0:
        part = min(bits, PRECISION)
        bits -= part
        slot, rest = x & TOTAL - 1, PRECISION - part
        value = value << part | slot >> rest
        x = (x >> PRECISION << rest) + (slot & (1 << rest) - 1)
        x, at = _refill(x, at, data, stop)
    return value, x, at


@jit(inline=True, part=True, norefs=True)
def get_number(tables: RansTables, t: Int64, x: Int64, at: int, data: Bytes, stop: int) -> Any:
    """Decode a number of `put_number`; return it, the new state and the offset of the next word."""
    bits, x, at = get(tables, t, x, at, data, stop)
    if bits > MOST_BITS:
        return 0, x, at | ABSENT
    if bits < 2:
        return bits, x, at
    value, x, at = get_raw(bits - 1, x, at, data, stop)
    return value | 1 << bits - 1, x, at


@jit(inline=True, part=True, norefs=True)
def get_small(
    tables: RansTables, t: Int64, rest: Int64, x: Int64, at: int, data: Bytes, stop: int
) -> Any:
    """Decode a number of `put_small`; return it, the new state and the offset of the next word."""
    value, x, at = get(tables, t, x, at, data, stop)
    if value == ESCAPE:
        more, x, at = get_number(tables, rest, x, at, data, stop)
        value += more
    return value, x, at
