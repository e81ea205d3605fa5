"""Exceptions of sequences: runs of a byte that is no base (SPEC.md, "Lines of sequences")."""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.entropy.rans_lanes import (
    Tokens,
    get,
    get_number,
    get_small,
    put,
    put_number,
    put_small,
)
from gangsaw.codecs.core.entropy.sparse_tables import ABSENT, RansTables
from gangsaw.codecs.core.nucleotides.kernels import letter_of
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.sequence import syntax
from gangsaw.codecs.reads.sequence.bases import next_exception


@jit(inline=True, part=True, norefs=True)
def put_exception_tokens(
    text: Bytes, codes: Bytes, start: int, end: int, tokens: Tokens, n: int
) -> int:
    """Append the exceptions (runs of a byte that is no base) in the line text[start:end]."""
    runs = 0
    at = next_exception(codes, start, end)
    first = at
    while at < end:
        at = next_exception(codes, end_of_run(text, at, end), end)
        runs += 1
    n = put_small(tokens, n, syntax.RUNS, syntax.REST, runs)
    at, before = first, start
    while at < end:
        stop = end_of_run(text, at, end)
        n = put_number(tokens, n, syntax.RUN_GAP, at - before)
        n = put_number(tokens, n, syntax.RUN_LENGTH, stop - at)
        n = put(tokens, n, syntax.RUN_BYTE, text[at])
        before, at = stop, next_exception(codes, stop, end)
    return n


@jit(inline=True, part=True, norefs=True)
def end_of_run(text: Bytes, at: int, end: int) -> int:
    """Return the offset after the run of equal bytes that begins at an offset."""
    byte = text[at]
    while at < end and text[at] == byte:
        at += 1
    return at


@jit(inline=True, part=True, norefs=True)
def get_exceptions(
    tables: RansTables, x: int, at: int, data: Bytes, stop: int, out: Bytes, place: int, n: int
) -> tuple[int, int, int]:
    """Decode exceptions into a line of n bytes; its other bytes become A.

    Return the number of runs, and the lane's state and offset.

    Decoders of pieces write at bases only, and leave other bytes alone.
    """
    runs, x, at = get_small(tables, syntax.RUNS, syntax.REST, x, at, data, stop)
    if runs == 0:
        return 0, x, at
    if runs > n:
        return 0, x, at | ABSENT
    fill_bytes(out, place, place + n, letter_of(0))
    end = place + n
    for _ in range(runs):
        gap, x, at = get_number(tables, syntax.RUN_GAP, x, at, data, stop)
        length, x, at = get_number(tables, syntax.RUN_LENGTH, x, at, data, stop)
        byte, x, at = get(tables, syntax.RUN_BYTE, x, at, data, stop)
        place += gap
        if length < 1 or place + length > end or at > stop:
            return runs, x, at | ABSENT
        fill_bytes(out, place, place + length, byte)
        place += length
    return runs, x, at


@jit(inline=True, part=True, norefs=True)
def fill_bytes(out: Bytes, begin: int, end: int, byte: int) -> None:
    """Fill out[begin:end] with one byte."""
    for i in range(begin, end):
        out[i] = byte
