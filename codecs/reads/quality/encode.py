"""Encoder of qualities: the table of each value, then lanes, several side by side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.numba.jit import jit, jit_norefs, jit_norefs_inline, jit_norefs_part
from gangsaw.codecs.core.numba.rans import LOWEST, PRECISION, TOTAL
from gangsaw.codecs.reads.entropy.rans import RAW, STATE_BYTES, Tokens, tokens_of
from gangsaw.codecs.reads.lines import Lines, Places, Text
from gangsaw.codecs.reads.quality.contexts import (
    ONE,
    START,
    Strides,
    U,
    after,
    context_of,
    place_step,
)
from gangsaw.codecs.reads.quality.syntax import (
    MOST_TOKENS,
    SYNTAX_TABLES,
    most_tokens,
    put_line,
    put_window,
)

SIDE = 4  # lanes side by side
WINDOW, LINE, LEFT, PLACE, STATE, AT, FIELDS = range(7)  # of a lane that is written
NONE = -1
SYMBOL_BITS, INVERSE_BITS = U(8), U(44)


class EncoderModel(NamedTuple):
    """What finds the table of a letter.

    Attributes
    ----------
    values : (256,) uint8, of letters
    strides : of contexts
    table_of : (n_contexts,) uint16, the table of each
    """

    values: Text
    strides: Strides
    table_of: npt.NDArray[np.uint16]


class Coder(NamedTuple):
    """What the encoder looks up.

    Attributes
    ----------
    text, tables : (n,) of each letter itself and its table, uint8 and uint16
    entries : of `entries_of`
    """

    text: Text
    tables: npt.NDArray[np.uint16]
    entries: npt.NDArray[np.uint64]


class Job(NamedTuple):
    """Windows that are written, and room for it.

    Attributes
    ----------
    first : window
    tokens : room for what stands between letters
    begins, ends : (n,) int64, where their lanes are
    lanes : (SIDE, FIELDS) int64, those that are being written
    """

    lines: Lines
    first: int
    coder: Coder
    tokens: Tokens
    begins: Places
    ends: Places
    lanes: npt.NDArray[np.int64]


@jit
def assign_tables(lines: Any, first: int, last: int, model: Any, out: Any, counts: Any) -> None:
    """Write the table of each letter of some windows to its place in `out`, and count."""
    for line in range(lines.windows[first], lines.windows[last]):
        begin, end = U(lines.starts[line]), U(lines.ends[line])
        past, grows = START, place_step(lines.ends[line] - lines.starts[line])
        for i in range(begin, end):
            value = U(model.values[lines.text[i]])
            table = model.table_of[context_of(past, model.strides)]
            out[i] = table
            counts[U(table) << SYMBOL_BITS | value] += 1
            past = after(past, value, grows)


def entries_of(frequencies: npt.NDArray[np.uint16], letters: Text) -> npt.NDArray[np.uint64]:
    """Return (n_tables * 256 * 2,) uint64: of each symbol the inverse of its frequency, see `push`,
    then the frequency, and from bit 16 on the first slot. Values are found by their letters.
    """
    wide = frequencies.astype(np.uint64)
    low = np.cumsum(wide, axis=1, dtype=np.uint64) - wide
    divisor = np.maximum(wide, ONE)
    inverse = ((ONE << INVERSE_BITS) + divisor - ONE) // divisor
    out = np.stack((inverse, wide | low << U(16)), axis=-1)
    out[SYNTAX_TABLES:, letters] = out[SYNTAX_TABLES:, : letters.size].copy()
    return out.ravel()


def encoded_windows(lines: Lines, first: int, last: int, coder: Coder) -> tuple[Text, Places]:
    """Return the lanes of some windows back to back, and the bytes of each."""
    ends = np.empty(last - first, np.int64)
    out = np.empty(int(lay_out(lines, first, ends)), np.uint8)
    lanes = np.zeros((SIDE, FIELDS), np.int64)
    lanes[:, WINDOW] = NONE
    begins = ends.copy()
    job = Job(lines, first, coder, tokens_of(MOST_TOKENS), begins, ends, lanes)
    write_windows(job, out)
    sizes = ends - begins
    return out[: int(close_up(begins, sizes, out))].copy(), sizes


@jit
def lay_out(lines: Any, first: int, ends: Any) -> int:
    """Fill in where each lane has to end; return the bytes for all."""
    at = 0
    for i in range(ends.size):
        at += 2 * most_tokens(lines, first + i) + STATE_BYTES
        ends[i] = at
    return at


@jit
def close_up(begins: Any, sizes: Any, out: Any) -> int:
    """Move lanes to the front, back to back; return their bytes."""
    at = 0
    for i in range(begins.size):
        for k in range(sizes[i]):
            out[at + k] = out[begins[i] + k]
        at += sizes[i]
    return at


@jit_norefs
def write_windows(job: Any, out: Any) -> None:
    """Write lanes backwards so that they end at `ends`; fill in where they begin."""
    lanes, queue = job.lanes, 0
    while True:
        n = 1 << 62
        for k in range(SIDE):
            if lanes[k, LEFT] == 0:
                queue = to_letters(job, queue, k, out)
            n = min(n, lanes[k, LEFT])
        if n == 0:
            break
        write_side_by_side(job.coder, n, lanes, out)
    for k in range(SIDE):
        while lanes[k, LEFT]:
            write_letters(job.coder, lanes, k, out)
            queue = to_letters(job, queue, k, out)


@jit_norefs_part
def to_letters(job: Any, queue: int, k: int, out: Any) -> int:
    """Write what stands between letters until there are some; return which window comes next.

    None are LEFT where there are no more windows.
    """
    lines, lanes = job.lines, job.lanes
    while lanes[k, LEFT] == 0:
        if lanes[k, WINDOW] == NONE:
            while queue < job.ends.size and is_empty(lines, job.first + queue):
                queue += 1
            if queue == job.ends.size:
                return queue
            lanes[k, WINDOW], lanes[k, LINE] = queue, lines.windows[job.first + queue + 1]
            lanes[k, STATE], lanes[k, AT] = LOWEST, job.ends[queue]
            queue += 1
        else:
            write_line(job, k, out)
        line = lanes[k, LINE]
        if line == lines.windows[job.first + lanes[k, WINDOW]]:
            write_window(job, k, out)
        else:
            lanes[k, LINE], lanes[k, PLACE] = line - 1, lines.ends[line - 1]
            lanes[k, LEFT] = lines.ends[line - 1] - lines.starts[line - 1]
    return queue


@jit_norefs_inline
def is_empty(lines: Any, window: int) -> bool:
    """Whether no line begins in a window."""
    return bool(lines.windows[window] == lines.windows[window + 1])


@jit_norefs_part
def write_window(job: Any, k: int, out: Any) -> None:
    """Write what a lane begins with, which ends it."""
    lines, lanes, window = job.lines, job.lanes, job.first + job.lanes[k, WINDOW]
    begin, end = lines.windows[window], lines.windows[window + 1]
    n = put_window(job.tokens, lines.starts[begin] - window * lines.lane, end - begin)
    write_tokens(job, n, k, out)
    at = lanes[k, AT] - STATE_BYTES
    for i in range(STATE_BYTES):
        out[at + i] = lanes[k, STATE] >> 8 * i & 255
    job.begins[lanes[k, WINDOW]] = at
    lanes[k, WINDOW] = NONE


@jit_norefs_inline
def write_line(job: Any, k: int, out: Any) -> None:
    """Write what stands before the letters of a line."""
    lines, line, before = job.lines, job.lanes[k, LINE], 0
    if line > lines.windows[job.first + job.lanes[k, WINDOW]]:
        before = lines.ends[line - 1] - lines.starts[line - 1]
    n = put_line(job.tokens, lines.ends[line] - lines.starts[line], before)
    write_tokens(job, n, k, out)


@jit_norefs_inline
def write_tokens(job: Any, n: int, k: int, out: Any) -> None:
    """Write n tokens, the last one first."""
    x, at = U(job.lanes[k, STATE]), U(job.lanes[k, AT])
    for i in range(n - 1, -1, -1):
        table, symbol = U(job.tokens.tables[i]), U(job.tokens.symbols[i])
        if table >= U(RAW):
            shift = U(PRECISION + RAW) - table
            x, at = push(x, at, ONE << INVERSE_BITS - shift, ONE << shift, symbol << shift, out)
        else:
            x, at = push_symbol(x, at, table << SYMBOL_BITS | symbol, job.coder.entries, out)
    job.lanes[k, STATE], job.lanes[k, AT] = x, at


@jit_norefs_inline
def push(x: Any, at: Any, inverse: Any, frequency: Any, low: Any, out: Any) -> Any:
    """Take a symbol in; the word below `at` is written whether or not it is given away.

    With inverse = 2^44 / frequency, rounded up, the quotient is exact for x < frequency * 2^20,
    and nothing is lost above 2^64.
    """
    out[at - U(2)], out[at - ONE] = x & U(255), x >> U(8) & U(255)
    given = U(x >= frequency << U(32 - PRECISION)) << U(4)  # bits; a branch would be a toss-up
    x >>= given
    at -= given >> U(3)
    quotient = x * inverse >> INVERSE_BITS
    return x + low + quotient * (U(TOTAL) - frequency), at


@jit_norefs_inline
def push_symbol(x: Any, at: Any, place: Any, entries: Any, out: Any) -> Any:
    """Take the symbol with a place in `entries` in."""
    entry = entries[place << ONE | ONE]
    return push(x, at, entries[place << ONE], entry & U(0xFFFF), entry >> U(16), out)


@jit_norefs_inline
def push_letter(x: Any, at: Any, place: Any, coder: Any, out: Any) -> Any:
    """Take the letter before a place in."""
    before = place - ONE
    table, letter = U(coder.tables[before]) + U(SYNTAX_TABLES), U(coder.text[before])
    return push_symbol(x, at, table << SYMBOL_BITS | letter, coder.entries, out)


@jit_norefs_part
def write_letters(coder: Any, lanes: Any, k: int, out: Any) -> None:
    """Write what is left of a line."""
    x, at, place = U(lanes[k, STATE]), U(lanes[k, AT]), U(lanes[k, PLACE])
    for i in range(U(lanes[k, LEFT])):
        x, at = push_letter(x, at, place - i, coder, out)
    lanes[k, STATE], lanes[k, AT], lanes[k, LEFT] = x, at, 0


@jit_norefs_part
def write_side_by_side(coder: Any, n: int, lanes: Any, out: Any) -> None:
    """Write n letters of each lane."""
    a, b, c, d = U(lanes[0, STATE]), U(lanes[1, STATE]), U(lanes[2, STATE]), U(lanes[3, STATE])
    at_a, at_b, at_c, at_d = U(lanes[0, AT]), U(lanes[1, AT]), U(lanes[2, AT]), U(lanes[3, AT])
    p, q, r, s = U(lanes[0, PLACE]), U(lanes[1, PLACE]), U(lanes[2, PLACE]), U(lanes[3, PLACE])
    for i in range(U(n)):
        a, at_a = push_letter(a, at_a, p - i, coder, out)
        b, at_b = push_letter(b, at_b, q - i, coder, out)
        c, at_c = push_letter(c, at_c, r - i, coder, out)
        d, at_d = push_letter(d, at_d, s - i, coder, out)
    for k in range(SIDE):
        lanes[k, LEFT] -= n
        lanes[k, PLACE] -= n
    lanes[0, STATE], lanes[1, STATE], lanes[2, STATE], lanes[3, STATE] = a, b, c, d
    lanes[0, AT], lanes[1, AT], lanes[2, AT], lanes[3, AT] = at_a, at_b, at_c, at_d
