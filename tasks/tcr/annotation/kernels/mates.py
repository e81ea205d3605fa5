"""The consensus of two mates that overlap."""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit

FEWEST = 16  # letters that mates share, at least
WRONG = 4  # letters that an unequal one costs; of overlaps by chance three of four are unequal
TOLERATED = 5  # at most one letter of so many is unequal
NO_OVERLAP = -1
BEST = 41  # Phred value of letters that both mates read


@jit
def overlap(a: Any, b: Any) -> int:
    """Return where the second mate begins on the first, or beyond its begin; the length of both
    together where they do not overlap.

    Parameters
    ----------
    a, b : (n,) and (m,) uint8 codes of both mates in the first one's direction
    """
    best, found = 0, len(a) + len(b)
    for shift in range(FEWEST - len(b), len(a) - FEWEST + 1):
        first, last = max(0, shift), min(len(a), shift + len(b))
        spare = min((last - first) // TOLERATED, (last - first - best - 1) // WRONG)
        at = first
        while at < last and spare >= 0:
            spare -= a[at] != b[at - shift]
            at += 1
        if spare >= 0:
            wrong = 0
            for at in range(first, last):
                wrong += a[at] != b[at - shift]
            if last - first - WRONG * wrong > best:
                best, found = last - first - WRONG * wrong, shift
    return found


@jit
def consensus(a: Any, of_a: Any, b: Any, of_b: Any, letters: Any, qualities: Any) -> int:
    """Join two mates; the better letter counts. Return its length, or NO_OVERLAP.

    What a mate reads beyond the begin of the other is no part of the fragment: a primer's adapter.
    Equal letters have the sum of their qualities, unequal ones the difference.

    Parameters
    ----------
    a, b : codes of both mates in the first one's direction
    of_a, of_b : their Phred values
    letters, qualities : uint8, at least as long as both together; they are filled
    """
    shift = overlap(a, b)
    if shift == len(a) + len(b):
        return NO_OVERLAP
    length = shift + len(b)
    for at in range(length):
        in_b = at - shift
        if in_b < 0:
            letters[at], qualities[at] = a[at], of_a[at]
        elif at >= len(a):
            letters[at], qualities[at] = b[in_b], of_b[in_b]
        elif a[at] == b[in_b]:
            letters[at], qualities[at] = a[at], min(BEST, of_a[at] + of_b[in_b])
        elif of_a[at] >= of_b[in_b]:
            letters[at], qualities[at] = a[at], of_a[at] - of_b[in_b]
        else:
            letters[at], qualities[at] = b[in_b], of_b[in_b] - of_a[at]
    return length
