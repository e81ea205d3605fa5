"""Runs of a transform in few bits: letters, lengths, and places that do not follow from others.

Where the suffix one letter longer than that of a run's first row is at the first row of a run, too,
its place is one less. So runs are linked in chains, and only the first of each needs a place; last
rows alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit_norefs, jit_norefs_inline

END = -1  # of a chain
MOST_LENGTH_BITS = 32  # of a run
LETTERS = 256


@jit_norefs_inline
def put(words: Any, at: Any, value: Any, width: Any) -> Any:
    """Write the lower bits of a value at a bit of words (w,) uint64, zeros before; return the end.

    width : 0 to 63; a word behind the last bit is there
    """
    word, shift = at >> 6, np.uint64(at & 63)
    words[word] |= np.uint64(value) << shift
    if shift:
        words[word + 1] |= np.uint64(value) >> (np.uint64(64) - shift)
    return at + width


@jit_norefs_inline
def take(words: Any, at: Any, width: Any) -> Any:
    """Return int64 of so many bits; 0 to 63 of them."""
    word, shift = at >> 6, np.uint64(at & 63)
    value = words[word] >> shift
    if shift:
        value |= words[word + 1] << (np.uint64(64) - shift)
    return np.int64(value & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))


@jit_norefs_inline
def _bits_of(number: Any) -> Any:
    """Return how many bits a number above 0 has behind its first one."""
    n = np.int64(0)
    while number >> (n + 1):
        n += 1
    return n


@jit_norefs
def count_length_bits(lengths: Any) -> Any:
    """Return the bits of lengths (r,) uint32 in Elias's gamma code."""
    total = np.int64(0)
    for i in range(lengths.size):
        total += 2 * _bits_of(np.int64(lengths[i])) + 1
    return total


@jit_norefs
def put_lengths(lengths: Any, words: Any) -> None:
    """Write lengths: zeros, as many as bits follow the first one, that one, and those bits."""
    at = np.int64(0)
    for i in range(lengths.size):
        n = _bits_of(np.int64(lengths[i]))
        at = put(words, at + n, 1, 1)
        at = put(words, at, np.int64(lengths[i]) - (np.int64(1) << n), n)


@jit_norefs
def take_lengths(words: Any, n: int, lengths: Any) -> Any:
    """Fill lengths (r,) uint32; whether they are there, and make up n."""
    at, total, end = np.int64(0), np.int64(0), np.int64(64 * (words.size - 1))
    for i in range(lengths.size):
        zeros = np.int64(0)
        while at < end and zeros < MOST_LENGTH_BITS and take(words, at, 1) == 0:
            zeros, at = zeros + 1, at + 1
        if zeros == MOST_LENGTH_BITS or at + 1 + zeros > end:
            return False
        length = (np.int64(1) << zeros) | take(words, at + 1, zeros)
        at, total = at + 1 + zeros, total + length
        if total > n:
            return False
        lengths[i] = length
    return total == n


@jit_norefs
def put_numbers(numbers: Any, width: int, words: Any) -> None:
    """Write numbers (k,) of so many bits each."""
    at = np.int64(0)
    for i in range(numbers.size):
        at = put(words, at, np.int64(numbers[i]), width)


@jit_norefs
def take_numbers(words: Any, width: int, numbers: Any) -> None:
    """Fill numbers (k,); there are k times so many bits, and a word behind them."""
    for i in range(numbers.size):
        numbers[i] = take(words, i * width, width)


@jit_norefs
def sort_runs(
    letters: Any, lengths: Any, primary: int, own: Any, order: Any, rows: Any, before: Any
) -> None:
    """Sort runs by letter, then by begin.

    Parameters
    ----------
    letters, lengths : (r,) uint8 and uint32, in the order of rows
    own : (257,) int64, filled: first run of each letter in the new order, and r
    order : (r,) uint32, filled: the runs in the new order
    rows : (r,) uint32, filled: first row of each run, in the order of rows
    before : (r + 1,) uint32, filled: letters in the runs before, in the new order
    """
    own[:] = 0
    row = np.int64(0)
    for i in range(letters.size):
        own[np.int64(letters[i]) + 1] += 1
        rows[i] = row + (row >= primary)
        row += np.int64(lengths[i])
    for letter in range(LETTERS):
        own[letter + 1] += own[letter]
    for i in range(letters.size):  # which makes each letter's number that of the next one
        order[own[letters[i]]] = i
        own[letters[i]] += 1
    for letter in range(LETTERS - 1, 0, -1):
        own[letter] = own[letter - 1]
    own[0] = 0
    before[0] = 0
    for k in range(letters.size):
        before[k + 1] = before[k] + lengths[order[k]]


@jit_norefs
def link(rows: Any, lengths: Any, order: Any, before: Any, of_last: bool, following: Any) -> None:
    """Fill the run (r,) int32 that each run's first row, or last row, leads to, or END.

    It does so where it leads to the first row, or last row, of that run. In the order by letter the
    rows that runs lead to ascend.
    """
    at = 0
    for k in range(order.size):
        row = np.int64(before[k + 1]) if of_last else np.int64(before[k]) + 1
        while at < rows.size and _row(rows, lengths, at, of_last) < row:
            at += 1
        is_there = at < rows.size and _row(rows, lengths, at, of_last) == row
        following[order[k]] = at if is_there else END


@jit_norefs_inline
def _row(rows: Any, lengths: Any, run: Any, of_last: Any) -> Any:
    return np.int64(rows[run]) + (np.int64(lengths[run]) - 1 if of_last else 0)


@jit_norefs
def mark_followers(following: Any, is_follower: Any) -> Any:
    """Fill whether runs (r,) bool follow one; return how many do not."""
    is_follower[:] = False
    n = following.size
    for i in range(following.size):
        if following[i] != END:
            is_follower[following[i]] = True
            n -= 1
    return n


@jit_norefs
def follow(following: Any, is_follower: Any, known: Any, places: Any) -> Any:
    """Fill places (r,) int64 from those of the first ones of chains; whether all are reached.

    No two runs lead to one, so a chain that has a first run ends.
    """
    used = reached = 0
    for first in range(following.size):
        if not is_follower[first]:
            run, place = np.int64(first), np.int64(known[used])
            used += 1
            while run != END:
                places[run] = place
                run, place, reached = np.int64(following[run]), place - 1, reached + 1
    return reached == following.size
