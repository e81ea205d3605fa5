"""Suffix sorting by induction (Nong, Zhang and Chan, 2009): the stages of `suffixes.py`.

A suffix is of type S if the next one is greater, else of type L. An S suffix after an L suffix is
leftmost S ("LMS"). Complements mark the items for the other scan, so no types are stored (Mori's
sais-lite). Each step needs the text before a suffix, which is prefetched.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.arrays import Bytes, Int32s
from gangsaw.codecs.core.numba.bits import prefetch
from gangsaw.codecs.core.numba.jit import jit

AHEAD = 32  # suffixes to prefetch ahead
ZERO, ONE = np.int32(0), np.int32(1)
U1 = np.uint64(1)


@jit(norefs=True)
def find_lms(text: Bytes | Int32s, counts: Int32s, lms: Int32s) -> int:
    """Count the letters of a text; fill `lms` with LMS positions, descending; return their number.

    lms : (n // 2 + 1,) int32, one more than possible, as each position is written before its check
    """
    m, is_s, last = np.uint64(0), np.int64(0), np.uint64(text.size - 1)
    right = np.int64(text[last])
    counts[np.uint64(right)] += ONE
    for back in range(last):
        at = last - U1 - back
        left = np.int64(text[at])
        counts[np.uint64(left)] += ONE
        # no branch: it would be mispredicted often
        was_s, is_s = is_s, np.int64(left < right + is_s)
        lms[m] = np.int32(at + U1)
        m += np.uint64(was_s & ~is_s)
        right = left
    return int(m)


@jit(inline=True, part=True, norefs=True)
def set_begins(counts: Int32s, buckets: Int32s) -> None:
    """Fill the start of each letter's bucket (the suffixes that begin with it) from the counts."""
    total = ZERO
    for letter in range(counts.size):
        buckets[letter] = total
        total += counts[letter]


@jit(inline=True, part=True, norefs=True)
def set_ends(counts: Int32s, buckets: Int32s) -> None:
    """Fill the end of each letter's bucket (the suffixes that begin with it) from the counts."""
    total = ZERO
    for letter in range(counts.size):
        total += counts[letter]
        buckets[letter] = total


@jit(norefs=True)
def sort_pieces(
    text: Bytes | Int32s, counts: Int32s, buckets: Int32s, lms: Int32s, suffixes: Int32s
) -> None:
    """Sort the LMS substrings (text between LMS positions); fill complements of their positions.

    Other items of `suffixes` are 0.

    lms : (m,) int32, descending, m > 1
    """
    suffixes[:] = ZERO
    set_ends(counts, buckets)
    for k in range(np.uint64(lms.size)):
        letter = np.uint64(text[np.uint64(lms[k])])
        buckets[letter] -= ONE
        if k + U1 < np.uint64(lms.size):  # nothing to sort precedes the last one
            suffixes[np.uint64(buckets[letter])] = lms[k] - ONE
    set_begins(counts, buckets)
    _put_l(text, np.int32(text.size - 1), buckets, suffixes)
    _pieces_of_l(text, buckets, suffixes)
    set_ends(counts, buckets)
    _pieces_of_s(text, buckets, suffixes)


@jit(inline=True, part=True, norefs=True)
def _put_l(text: Bytes | Int32s, at: np.int32, buckets: Int32s, suffixes: Int32s) -> None:
    """Append the position before an L suffix to its letter's bucket.

    It is stored as complement if the suffix at that position is of type S.
    """
    letter = text[np.uint64(at)]
    before = at - ONE
    place = np.uint64(buckets[np.uint64(letter)])
    suffixes[place] = ~before if text[np.uint64(before)] < letter else before
    buckets[np.uint64(letter)] += ONE


@jit(inline=True, part=True, norefs=True)
def _pieces_of_l(text: Bytes | Int32s, buckets: Int32s, suffixes: Int32s) -> None:
    last = np.uint64(suffixes.size - 1)
    for i in range(np.uint64(suffixes.size)):
        prefetch(text, np.int64(suffixes[min(i + np.uint64(AHEAD), last)]))
        at = suffixes[i]
        if at > ZERO:
            _put_l(text, at, buckets, suffixes)
            suffixes[i] = ZERO
        elif at < ZERO:
            suffixes[i] = ~at


@jit(inline=True, part=True, norefs=True)
def _pieces_of_s(text: Bytes | Int32s, buckets: Int32s, suffixes: Int32s) -> None:
    for i in range(np.int64(suffixes.size) - 1, -1, -1):
        prefetch(text, np.int64(suffixes[np.uint64(max(i - AHEAD, 0))]))
        at = suffixes[np.uint64(i)]
        if at > ZERO:
            letter, before = text[np.uint64(at)], at - ONE
            buckets[np.uint64(letter)] -= ONE
            place = np.uint64(buckets[np.uint64(letter)])
            suffixes[place] = ~at if text[np.uint64(before)] > letter else before
            suffixes[np.uint64(i)] = ZERO


@jit(norefs=True)
def name_pieces(text: Bytes | Int32s, lms: Int32s, suffixes: Int32s) -> int:
    """Number the sorted LMS substrings, equal ones alike; return the count of distinct ones.

    The first m items are set to the sorted LMS positions, the last m to the numbers in text order.
    """
    m = np.uint64(lms.size)
    _compact(m, suffixes)
    following = lms[0]  # the last piece has length 0: it ends with the text and is unique
    for k in range(m):
        suffixes[m + np.uint64(lms[k] >> ONE)] = following - lms[k]
        following = lms[k]
    names = _number(text, m, suffixes)
    n = np.uint64(suffixes.size)
    for k in range(m):  # written behind the items still to be read
        suffixes[n - U1 - k] = suffixes[m + np.uint64(lms[k] >> ONE)]
    return int(names)


@jit(inline=True, part=True, norefs=True)
def _compact(m: np.uint64, suffixes: Int32s) -> None:
    """Move the m complements of positions to the front, as positions."""
    used, i = np.uint64(0), np.uint64(0)
    while used < m:
        at = suffixes[i]
        suffixes[used] = ~at
        used += np.uint64(at < ZERO)
        i += U1


@jit(inline=True, part=True, norefs=True)
def _number(text: Bytes | Int32s, m: np.uint64, suffixes: Int32s) -> Any:
    """Replace the length of each LMS substring by its number, from 0; return the count."""
    name, before, length = np.int32(-1), np.uint64(0), np.int32(-1)
    for i in range(m):
        far = suffixes[min(i + np.uint64(AHEAD), m - U1)]
        prefetch(text, np.int64(far))
        prefetch(suffixes, np.int64(m) + np.int64(far >> ONE))
        at = np.uint64(suffixes[i])
        place = m + (at >> U1)
        same = suffixes[place] == length
        if same:
            k = np.uint64(0)
            while k <= np.uint64(length) and text[at + k] == text[before + k]:
                k += U1
            same = k > np.uint64(length)
        if not same:
            name, before, length = name + ONE, at, suffixes[place]
        suffixes[place] = name
    return name + ONE


@jit(norefs=True)
def lms_of_names(lms: Int32s, order: Int32s) -> None:
    """Convert sorted indices of LMS positions, counted from the left, to the positions."""
    last = np.uint64(lms.size - 1)
    for i in range(np.uint64(order.size)):
        order[i] = lms[last - np.uint64(order[i])]


@jit(norefs=True)
def induce(text: Bytes | Int32s, counts: Int32s, buckets: Int32s, m: int, suffixes: Int32s) -> None:
    """Induce the suffix array from the m sorted LMS positions, which are its first m items."""
    set_ends(counts, buckets)
    _spread(text, m, buckets, suffixes)
    set_begins(counts, buckets)
    _induce_l(text, buckets, suffixes)
    set_ends(counts, buckets)
    _induce_s(text, buckets, suffixes)


@jit(inline=True, part=True, norefs=True)
def _spread(text: Bytes | Int32s, m: int, ends: Int32s, suffixes: Int32s) -> None:
    """Move sorted LMS suffixes to the ends of their letters' buckets; set other items to 0."""
    free = np.int64(suffixes.size)
    for i in range(np.int64(m) - 1, -1, -1):
        prefetch(text, np.int64(suffixes[np.uint64(max(i - AHEAD, 0))]))
        at = suffixes[np.uint64(i)]
        letter = np.uint64(text[np.uint64(at)])
        ends[letter] -= ONE
        while free - 1 > np.int64(ends[letter]):
            free -= 1
            suffixes[np.uint64(free)] = ZERO
        free -= 1
        suffixes[np.uint64(free)] = at
    suffixes[:free] = ZERO


@jit(inline=True, part=True, norefs=True)
def _induce_l(text: Bytes | Int32s, buckets: Int32s, suffixes: Int32s) -> None:
    last = np.uint64(suffixes.size - 1)
    _induce_one_l(text, np.int32(text.size), buckets, suffixes)
    for i in range(np.uint64(suffixes.size)):
        prefetch(text, np.int64(suffixes[min(i + np.uint64(AHEAD), last)]))
        at = suffixes[i]
        suffixes[i] = ~at
        if at > ZERO:
            _induce_one_l(text, at, buckets, suffixes)


@jit(inline=True, part=True, norefs=True)
def _induce_one_l(text: Bytes | Int32s, at: np.int32, buckets: Int32s, suffixes: Int32s) -> None:
    """Append the suffix before position `at`, of type L, to its letter's bucket.

    It is stored as complement if the suffix before it is of type S.
    """
    put = at - ONE
    letter = text[np.uint64(put)]
    place = np.uint64(buckets[np.uint64(letter)])
    buckets[np.uint64(letter)] += ONE
    # the first suffix reads itself, which ends the induction
    before = text[np.uint64(max(put - ONE, ZERO))]
    suffixes[place] = ~put if before < letter else put


@jit(inline=True, part=True, norefs=True)
def _induce_s(text: Bytes | Int32s, buckets: Int32s, suffixes: Int32s) -> None:
    for i in range(np.int64(suffixes.size) - 1, -1, -1):
        prefetch(text, np.int64(suffixes[np.uint64(max(i - AHEAD, 0))]))
        at = suffixes[np.uint64(i)]
        if at > ZERO:
            put = at - ONE
            letter = text[np.uint64(put)]
            buckets[np.uint64(letter)] -= ONE
            place = np.uint64(buckets[np.uint64(letter)])
            stops = put == ZERO or text[np.uint64(max(put - ONE, ZERO))] > letter
            suffixes[place] = ~put if stops else put
        else:
            suffixes[np.uint64(i)] = ~at
