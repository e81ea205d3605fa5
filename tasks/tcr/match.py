"""Where the genes of a reference match it: V and J from its ends, D in all places."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.bits import count_ones, trailing_zeros
from gangsaw.codecs.core.jit import jit_bare_inline
from gangsaw.tasks.tcr.nucleotides import COMPLEMENT
from gangsaw.tasks.tcr.tables import END_CLASSES

NU_LANES = 16  # nu = 0..10, and what makes a vector of them
ONE = np.uint64(1)
NOTHING = np.uint64(0)


@jit_bare_inline
def match_end(codes: Any, at: int, step: int, length: int, part: Any, start: int, stop: int) -> int:
    """Count the symbols of part[start:stop] that match the reference from `at` on (section 4)."""
    most = min(length, stop - start)
    for k in range(most):
        if codes[at] & part[start + k] == 0:
            return k
        at += step
    return most


@jit_bare_inline
def find_self_palindromes(codes: Any, first: int, length: int, max_p: int, scratch: Any) -> int:
    """List the boundaries q around which the reference is its own reverse complement.

    Return their number. scratch.turns and .reaches get q and for how many symbols, at most max_p.
    """
    n = 0
    for q in range(1, length):
        reach = 0
        for t in range(min(max_p, q, length - q)):
            if codes[first + q - t - 1] & COMPLEMENT[codes[first + q + t]] == 0:
                break
            reach += 1
        if reach:
            scratch.turns[n] = q
            scratch.reaches[n] = reach
            n += 1
    return n


@jit_bare_inline
def find_d(
    codes: Any,
    first: int,
    length: int,
    d: Any,
    window: Any,
    scratch: Any,
) -> Any:
    """List the places where R[a:b], a < b, is a piece of a D gene; section 5's bit registers.

    `d` is a table of masks, the number of the gene in it, the bits where pieces end `inside` and
    its germline length; `window` is (last_a, first_b).

    Bit e - 1 of the register of start a, after b symbols, says that R[a:b] matches the piece of D
    that ends at e. A register that is 0 stays so, and earlier starts die first, so the living ones
    are those of the last few starts.

    Places with a <= last_a and b >= first_b are listed, for others cannot be reached from V and J:
    scratch.starts and .matches have a * NU_LANES and how many pieces end within the bits `inside`,
    for each b from scratch.first_of[b] on; pieces that end in the palindrome, in class
    e - germline > 0 each, go to scratch.crossing_a, _b and _class.

    Return the number of those, the greatest b - a, and of the places that have it the first symbol,
    from 1, of the left-most one and the last of the right-most.
    """
    masks, gene, inside, germline = d
    last_a, first_b = window
    n, crossing, alive, longest, left, right = 0, 0, 0, 0, 0, 0
    for b in range(1, length + 1):
        scratch.first_of[b] = n
        mask = masks[16 * gene + codes[first + b - 1]]
        run = mask
        a = b - 1
        while run != NOTHING:
            scratch.runs[a] = run
            if b >= first_b and a <= last_a:
                within = run & inside
                scratch.starts[n] = a * NU_LANES
                scratch.matches[n] = count_ones(within)
                n += within != NOTHING
                beyond = run ^ within
                while beyond != NOTHING:
                    scratch.crossing_a[crossing] = a * NU_LANES
                    scratch.crossing_b[crossing] = b * NU_LANES
                    scratch.crossing_class[crossing] = trailing_zeros(beyond) + 1 - germline
                    crossing += 1
                    beyond &= beyond - ONE
            a -= 1
            if a < alive:
                break
            run = (scratch.runs[a] << ONE) & mask
        alive = a + 1
        if b - alive > longest:
            longest, left = b - alive, alive + 1
        if b - alive == longest:
            right = b
    scratch.first_of[length + 1] = n
    return crossing, longest, left, right


@jit_bare_inline
def find_turned_d(
    codes: Any,
    first: int,
    length: int,
    d: Any,
    ends: Any,
    turns: int,
    window: Any,
    found: Any,
    scratch: Any,
) -> Any:
    """List D with a palindrome of what follows it in the reference (section 6, f < 0).

    At a boundary q where the reference turns, D begins with its first symbol and has i = 1..reach
    symbols of palindrome before it. `d` and `window` are as in find_d, `found` is what it returned,
    `ends` the range of ends of D; return the same as find_d with these places.
    """
    masks, gene, _, germline = d
    crossing, longest, left, right = found
    for turn in range(turns):
        q, reach = scratch.turns[turn], scratch.reaches[turn]
        end = 0
        while (
            end < ends[1]
            and q + end < length
            and (masks[16 * gene + codes[first + q + end]] >> np.uint64(end)) & ONE
        ):
            end += 1
        if end < ends[0]:
            continue
        if end + reach > longest:
            longest, left, right = end + reach, q - reach + 1, q + end
        if end + reach == longest:
            left, right = min(left, q - reach + 1), max(right, q + end)
        for e in range(max(ends[0], window[1] - q), end + 1):
            for i in range(max(1, q - window[0]), reach + 1):
                scratch.crossing_a[crossing] = (q - i) * NU_LANES
                scratch.crossing_b[crossing] = (q + e) * NU_LANES
                scratch.crossing_class[crossing] = i * END_CLASSES + max(0, e - germline)
                crossing += 1
    return crossing, longest, left, right
