"""Consensus of two overlapping mates."""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.numba.jit import jit

FEWEST = 16  # bases of an overlap, at least
WRONG = 4  # penalty of a mismatch in bases; three of four bases of a random overlap differ
TOLERATED = 5  # at most one base in so many differs
NO_OVERLAP = -1
BEST = 41  # Phred value of bases that both mates read


@jit
def overlap(a: Any, b: Any) -> int:
    """Return the offset of the second mate relative to the first; negative if it begins before it.

    The result is the sum of both lengths if the mates do not overlap.

    Parameters
    ----------
    a, b : (n,) and (m,) uint8
        Codes of both mates, in the direction of the first.
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
def consensus(a: Any, of_a: Any, b: Any, of_b: Any, bases: Any, qualities: Any) -> int:
    """Write the consensus of two mates, and return its length, or `NO_OVERLAP`.

    Bases of a mate beyond the start of the other belong to an adapter, not to the fragment, and are
    dropped. The base of the higher quality wins. Equal bases get the sum of their qualities,
    different ones the difference.

    Parameters
    ----------
    a, b : uint8
        Codes of both mates, in the direction of the first.
    of_a, of_b : uint8
        Their Phred values.
    bases, qualities : uint8, at least as long as both together
        Output: codes and Phred values.
    """
    shift = overlap(a, b)
    if shift == len(a) + len(b):
        return NO_OVERLAP
    length = shift + len(b)
    for at in range(length):
        in_b = at - shift
        if in_b < 0:
            bases[at], qualities[at] = a[at], of_a[at]
        elif at >= len(a):
            bases[at], qualities[at] = b[in_b], of_b[in_b]
        elif a[at] == b[in_b]:
            bases[at], qualities[at] = a[at], min(BEST, of_a[at] + of_b[in_b])
        elif of_a[at] >= of_b[in_b]:
            bases[at], qualities[at] = a[at], of_a[at] - of_b[in_b]
        else:
            bases[at], qualities[at] = b[in_b], of_b[in_b] - of_a[at]
    return length
