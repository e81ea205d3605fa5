"""Bit packing of the runs of a transform: letters, lengths, and positions not implied by others.

If the suffix one letter longer than that of a run's first row is also at the first row of a run,
its position is one less. Runs thus form chains, and only the first of each needs a position. The
same holds for last rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit

END = -1  # end of a chain
MOST_LENGTH_BITS = 32  # bits of the length of a run
ALPHABET_SIZE = 256


@jit(inline=True, part=True, norefs=True)
def write_bits(words: Any, at: Any, value: Any, width: Any) -> Any:
    """Write the low bits of a value at a bit offset of zeroed words (w,) uint64; return the end.

    width : 0 to 63; there must be a word after the last bit
    """
    word, shift = at >> 6, np.uint64(at & 63)
    words[word] |= np.uint64(value) << shift
    if shift:
        words[word + 1] |= np.uint64(value) >> (np.uint64(64) - shift)
    return at + width


@jit(inline=True, part=True, norefs=True)
def read_bits(words: Any, at: Any, width: Any) -> Any:
    """Return `width` (0 to 63) bits of words at a bit offset as int64."""
    word, shift = at >> 6, np.uint64(at & 63)
    value = words[word] >> shift
    if shift:
        value |= words[word + 1] << (np.uint64(64) - shift)
    return np.int64(value & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@jit(inline=True, part=True, norefs=True)
def _bits_of(number: Any) -> Any:
    """Return the number of bits of a number above 0, without its leading 1."""
    n = np.int64(0)
    while number >> (n + 1):
        n += 1
    return n


@jit(norefs=True)
def count_length_bits(lengths: Any) -> Any:
    """Return the bits that lengths of runs, (r,) uint32, take in Elias's gamma code."""
    total = np.int64(0)
    for i in range(lengths.size):
        total += 2 * _bits_of(np.int64(lengths[i])) + 1
    return total


@jit(norefs=True)
def put_lengths(lengths: Any, words: Any) -> None:
    """Write lengths of runs in Elias's gamma code.

    For each, as many zeros as bits follow the leading 1, then all bits.
    """
    at = np.int64(0)
    for i in range(lengths.size):
        n = _bits_of(np.int64(lengths[i]))
        at = write_bits(words, at + n, 1, 1)
        at = write_bits(words, at, np.int64(lengths[i]) - (np.int64(1) << n), n)


@jit(norefs=True)
def take_lengths(words: Any, n: int, lengths: Any) -> Any:
    """Read lengths of runs (r,) in gamma code; return True if they are complete, with sum n."""
    at, total, end = np.int64(0), np.int64(0), np.int64(64 * (words.size - 1))
    for i in range(lengths.size):
        zeros = np.int64(0)
        while at < end and zeros < MOST_LENGTH_BITS and read_bits(words, at, 1) == 0:
            zeros, at = zeros + 1, at + 1
        if zeros == MOST_LENGTH_BITS or at + 1 + zeros > end:
            return False
        length = (np.int64(1) << zeros) | read_bits(words, at + 1, zeros)
        at, total = at + 1 + zeros, total + length
        if total > n:
            return False
        lengths[i] = length
    return total == n


@jit(norefs=True)
def put_numbers(numbers: Any, width: int, words: Any) -> None:
    """Pack numbers (k,) into words, `width` bits each."""
    at = np.int64(0)
    for i in range(numbers.size):
        at = write_bits(words, at, np.int64(numbers[i]), width)


@jit(norefs=True)
def take_numbers(words: Any, width: int, numbers: Any) -> None:
    """Unpack numbers (k,) of `width` bits each from words, which have one more after the last."""
    for i in range(numbers.size):
        numbers[i] = read_bits(words, i * width, width)


@jit(norefs=True)
def sort_runs(
    symbols: Any, lengths: Any, primary: int, own: Any, order: Any, rows: Any, before: Any
) -> None:
    """Sort the runs of a Burrows-Wheeler transform by letter, then by start.

    Parameters
    ----------
    symbols, lengths : (r,) uint8 and uint32, in the order of rows
    own : (257,) int64, filled: first run of each letter in the new order, and r
    order : (r,) uint32, filled: the runs in the new order
    rows : (r,) uint32, filled: first row of each run, in the order of rows
    before : (r + 1,) uint32, filled: letters in the runs before, in the new order
    """
    own[:] = 0
    row = np.int64(0)
    for i in range(symbols.size):
        own[np.int64(symbols[i]) + 1] += 1
        rows[i] = row + (row >= primary)
        row += np.int64(lengths[i])
    for letter in range(ALPHABET_SIZE):
        own[letter + 1] += own[letter]
    for i in range(symbols.size):  # afterwards each letter has the index of the next one
        order[own[symbols[i]]] = i
        own[symbols[i]] += 1
    for letter in range(ALPHABET_SIZE - 1, 0, -1):
        own[letter] = own[letter - 1]
    own[0] = 0
    before[0] = 0
    for k in range(symbols.size):
        before[k + 1] = before[k] + lengths[order[k]]


@jit(norefs=True)
def link(rows: Any, lengths: Any, order: Any, before: Any, of_last: bool, following: Any) -> None:
    """Link runs whose positions follow from each other: write each one's successor (r,) int32.

    The successor of a run is that whose first row has the suffix one letter longer than its own
    first row's; with `of_last`, last rows. It is END if that row is not the first, or last, one of
    a run. In the order by letter, the rows to which runs lead ascend.
    """
    at = 0
    for k in range(order.size):
        row = np.int64(before[k + 1]) if of_last else np.int64(before[k]) + 1
        while at < rows.size and _row(rows, lengths, at, of_last) < row:
            at += 1
        is_there = at < rows.size and _row(rows, lengths, at, of_last) == row
        following[order[k]] = at if is_there else END


@jit(inline=True, part=True, norefs=True)
def _row(rows: Any, lengths: Any, run: Any, of_last: Any) -> Any:
    return np.int64(rows[run]) + (np.int64(lengths[run]) - 1 if of_last else 0)


@jit(norefs=True)
def mark_followers(following: Any, is_follower: Any) -> Any:
    """Write whether each run has a predecessor in a chain, (r,) bool; return the number without."""
    is_follower[:] = False
    n = following.size
    for i in range(following.size):
        if following[i] != END:
            is_follower[following[i]] = True
            n -= 1
    return n


@jit(norefs=True)
def follow_run_chains(following: Any, is_follower: Any, known: Any, positions: Any) -> Any:
    """Write the positions of all runs, (r,), from the `known` ones of the first run of each chain.

    Returns True if all runs are reached. No two runs have the same successor, so a chain with a
    first run ends.
    """
    used = reached = 0
    for first in range(following.size):
        if not is_follower[first]:
            run, place = np.int64(first), np.int64(known[used])
            used += 1
            while run != END:
                positions[run] = place
                run, place, reached = np.int64(following[run]), place - 1, reached + 1
    return reached == following.size
