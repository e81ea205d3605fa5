"""Matches of genes in a reference: V and J at its ends, D anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.bits import count_ones, trailing_zeros
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.integers import (
    bits_of,
    load,
    minimum,
    select,
    spread,
    static,
    store,
)
from gangsaw.tasks.tcr.counting.kernels.d_words import SHORT
from gangsaw.tasks.tcr.counting.kernels.reference import Reference, References
from gangsaw.tasks.tcr.counting.kernels.tables import END_CLASSES
from gangsaw.tasks.tcr.model.nucleotides import Codes

NU_LANES = 16  # nu = 0..10, padded to a vector
ONE = np.uint64(1)
NOTHING = np.uint64(0)
EVERYWHERE = np.uint64(2**64 - 1)
ENDS = np.uint64(15)  # ends of a D gene in its palindrome, at most MAX_P
CHUNK = 32  # symbols, one byte each, that are compared at once
CHUNK_LANES = static(CHUNK)
PAD = 4  # symbols before a reference that match nothing; the longest palindrome has as many


@jit(inline=True, part=True, norefs=True)
def match_end(
    symbols: Any, at: int, step: int, length: int, part: Any, start: int, stop: int
) -> int:
    """Return how many symbols of part[start:stop] match the reference, up to the first mismatch.

    Parameters
    ----------
    symbols, length : the reference
    at, step : position of the first compared symbol; 1 to go forward, -1 to go backward
    part, start, stop : concatenated germline parts, and the range of one
    """
    most = min(length, stop - start)
    for k in range(most):
        if symbols[at] & part[start + k] == 0:
            return k
        at += step
    return most


@jit(inline=True, part=True, norefs=True)
def copy_symbols(codes: Codes, start: int, stop: int, symbols: Codes) -> int:
    """Copy one reference to the beginning of `symbols`; return its length."""
    for k in range(stop - start):
        symbols[k] = codes[start + k]
    return stop - start


@jit(inline=True, part=True, norefs=True)
def match_ends(
    row: int, references: References, tables: Any, max_n: int, symbols: Codes
) -> Reference:
    """Copy a reference to `symbols`; match its V and J parts, and return it as a `Reference`."""
    bounds, v, j = references.starts, references.v_of[row], references.j_of[row]
    length = copy_symbols(references.codes, bounds[row], bounds[row + 1], symbols)
    starts, ends = tables.v_starts, tables.j_starts
    v_match = match_end(symbols, 0, 1, length, tables.v, starts[v], starts[v + 1])
    j_match = match_end(symbols, length - 1, -1, length, tables.j, ends[j], ends[j + 1])
    v_length, j_length = tables.v_germline[v], tables.j_germline[j]
    return Reference(
        row,
        length,
        v_length,
        j_length,
        v_match,
        j_match,
        min(length, v_match + max_n),
        max(0, length - j_match - max_n),
        max(0, v_match - v_length) + 1,
        max(0, j_match - j_length) + 1,
    )


@jit(inline=True, part=True, norefs=True)
def has_window(reference: Reference) -> bool:
    """Return True if V and J leave boundaries at which a D segment of 1..SHORT symbols can end."""
    return max(1, reference.first_b) <= min(reference.length, reference.last_a + SHORT)


@jit(inline=True, part=True, norefs=True)
def find_palindromes(symbols: Any, length: int, max_p: int, scratch: Any) -> None:
    """Find the boundaries around which the reference is its own reverse complement.

    Fill scratch.reaches[q] with half the length of the palindrome around boundary q, at most max_p.
    """
    padded = scratch.padded
    for k in range(0, length, CHUNK):
        store(padded, PAD + k, load(symbols, k, CHUNK_LANES))
    for k in (length, length + CHUNK):
        store(padded, PAD + k, spread(0, padded, CHUNK_LANES))
    for q in range(1, length, CHUNK):
        reach = spread(0, padded, CHUNK_LANES)
        turns = spread(1, padded, CHUNK_LANES)
        for t in range(max_p):
            left = load(padded, PAD + q - t - 1, CHUNK_LANES)
            right = load(padded, PAD + q + t, CHUNK_LANES)
            turns = select((left & complement(right)) > 0, turns, 0)
            reach = reach + turns
        store(scratch.reaches, q, reach)


@jit(inline=True, part=True, norefs=True)
def complement(codes: Any) -> Any:
    """Return the complement of a code, or of each of a vector: A=1 with T=2, C=4 with G=8."""
    return ((codes & 5) << 1) | ((codes >> 1) & 5)


@jit(part=True, norefs=True)
def find_pieces(symbols: Any, length: int, d: Any, window: Any, lists: Any) -> Any:
    """Find the positions where R[a:b], a < b, is a segment of a D gene, with bit registers.

    Bit e - 1 of the register of start a is set, at b, if R[a:b] is the segment of D that ends at e.
    A register that is 0 stays 0, and never becomes 0 before that of an earlier start. Most are soon
    0. Those of the last SHORT starts are updated at every b, without a data-dependent branch.

    matches[b * SHORT + t - 1] gets the number of segments inside D that end at b, for t = 1..SHORT
    symbols and b = first_b..last_a + SHORT. scratch.longer gets the positions of longer ones with
    their number, in the order of b. scratch.crossing gets those that end in the palindrome, with
    their class.

    Parameters
    ----------
    symbols, length : the reference
    d : masks of genes, number of the gene, mask of ends `inside`, germline length, and True if the
        four ends after the germline belong to palindromes
    window : (last_a, first_b): positions with a greater a or a smaller b are not reached from V or
        J

    Returns
    -------
    (numbers of longer and crossing segments, greatest b - a, 1-based first symbol of the left-most
    segment of that length, last symbol of the right-most)
    """
    masks, gene, inside, germline, has_palindrome = d
    last_a, first_b = window
    matches, _, crossing_list, _ = lists
    short, word = (NOTHING, NOTHING, NOTHING, NOTHING), NOTHING
    n, crossing, alive, longest = 0, 0, 0, (0, 0, 0)
    for b in range(1, length + 1):
        mask = masks[16 * gene + symbols[b - 1]]
        longer = (short[3] << ONE) & mask
        short = _extended(short, mask)
        if first_b <= b <= last_a + SHORT:
            _count_short(short, inside, matches, b * SHORT)
            if has_palindrome:
                out = max(0, b - 1 - last_a)  # first starts, outside the window
                word |= _ends_beyond(short, germline, out) << np.uint64(16 * (b & 3))
        if b & 3 == 3 or b == length:
            # four boundaries at once: the end of each loop is a mispredicted branch
            crossing = list_short(word, b & ~3, crossing_list, crossing)
            word = NOTHING
        alive, n, crossing = _list_longer(longer, mask, b, alive, (n, crossing), d, window, lists)
        longest = update_longest(_not_nothing(short) + b - SHORT - alive, b, longest)
    return n, crossing, longest[0], longest[1], longest[2]


@jit(inline=True, part=True, norefs=True)
def _extended(short: Any, mask: Any) -> Any:
    """Return the registers (see find_pieces) of the last SHORT starts after one more symbol of R.

    `short` has those before it, nearest start first; `mask` has the gene positions of the
    symbol.
    """
    run1, run2, run3, _ = short
    return mask, (run1 << ONE) & mask, (run2 << ONE) & mask, (run3 << ONE) & mask


@jit(inline=True, part=True, norefs=True)
def _not_nothing(short: Any) -> int:
    """Return how many of the last SHORT registers are nonzero: those of the latest starts."""
    run1, run2, run3, run4 = short
    return int(run1 != NOTHING) + int(run2 != NOTHING) + int(run3 != NOTHING) + int(run4 != NOTHING)


@jit(inline=True, part=True, norefs=True)
def _count_short(short: Any, inside: Any, matches: Any, at: int) -> None:
    """Fill matches[at : at + SHORT] with the numbers of set bits `inside` D of each register.

    These are the numbers of segments of 1..SHORT symbols that end at the present boundary.
    """
    run1, run2, run3, run4 = short
    matches[at] = count_ones(run1 & inside)
    matches[at + 1] = count_ones(run2 & inside)
    matches[at + 2] = count_ones(run3 & inside)
    matches[at + 3] = count_ones(run4 & inside)


@jit(inline=True, part=True, norefs=True)
def _ends_beyond(short: Any, germline: int, out: int) -> Any:
    """Return the segments that end in D's right palindrome: four bits per start, nearest first.

    The nearest `out` starts are omitted: junctions from V do not reach them.
    """
    run1, run2, run3, run4 = short
    beyond, skipped = np.uint64(germline), np.uint64(4 * out)
    ends = (run1 >> beyond) & ENDS
    ends |= ((run2 >> beyond) & ENDS) << np.uint64(4)
    ends |= ((run3 >> beyond) & ENDS) << np.uint64(8)
    ends |= ((run4 >> beyond) & ENDS) << np.uint64(12)
    return (ends >> skipped) << skipped


@jit(inline=True, part=True, norefs=True)
def list_short(word: Any, first: int, crossing_list: Any, crossing: int) -> int:
    """Append the segments that end in D's right palindrome to a list; return its length.

    `word` has the 16 bits of _ends_beyond of each of four boundaries from `first`; `crossing` is
    the previous length.
    """
    while word != NOTHING:
        bit = trailing_zeros(word)
        b = first + (bit >> 4)
        a = b - 1 - ((bit >> 2) & 3)
        crossing_list[crossing] = pack_segment(a, b, (bit & 3) + 1)
        crossing += 1
        word &= word - ONE
    return crossing


@jit(inline=True, part=True, norefs=True)
def _list_longer(
    longer: Any, mask: Any, b: int, alive: int, numbers: Any, d: Any, window: Any, lists: Any
) -> Any:
    """List the segments of more than SHORT symbols that end at b; update their registers.

    `longer` is the register of start b - SHORT - 1, `mask` the gene positions of the symbol before
    b. `alive` is the first start with a nonzero register at b - 1, `numbers` are the numbers of
    longer and crossing segments listed so far. Return the same three values after b.
    """
    runs = lists[3]
    n, crossing = numbers
    a = b - SHORT - 1
    while longer != NOTHING:
        runs[a] = longer
        if b >= window[1] and a <= window[0]:
            n, crossing = list_longer_at(a, b, longer, d, lists[1:3], (n, crossing))
        a -= 1
        if a < alive:
            break
        longer = (runs[a] << ONE) & mask
    return a + 1, n, crossing


@jit(inline=True, part=True, norefs=True)
def list_longer_at(a: int, b: int, longer: Any, d: Any, lists: Any, numbers: Any) -> Any:
    """Append R[a:b] to the lists of longer and of crossing segments, and return their lengths.

    `longer` is the register of a: its bits are the ends of the segment in D. `numbers` are the
    previous lengths of the lists.
    """
    _, _, inside, germline, _ = d
    n, crossing = numbers
    lists[0][n] = pack_segment(a, b, count_ones(longer & inside))
    ends = (longer & ~inside) >> np.uint64(germline)
    while ends != NOTHING:
        lists[1][crossing] = pack_segment(a, b, trailing_zeros(ends) + 1)
        crossing += 1
        ends &= ends - ONE
    return n + 1, crossing


@jit(inline=True, part=True, norefs=True)
def update_longest(length: int, b: int, longest: Any) -> Any:
    """Update the longest D match with a segment of `length` symbols that ends at b.

    `longest` and the result are the greatest length, the 1-based first symbol of the left-most
    segment of that length, and the last symbol of the right-most.
    """
    greatest, left, right = longest
    if length > greatest:
        greatest, left = length, b - length + 1
    if length == greatest:
        right = b
    return greatest, left, right


@jit(inline=True, part=True, norefs=True)
def find_palindromic_d(
    symbols: Any,
    length: int,
    d: Any,
    codes: Any,
    ends: Any,
    window: Any,
    found: Any,
    scratch: Any,
) -> Any:
    """Find D with a palindrome of the symbols after it in the reference: f < 0 in SPEC.md, "DP-2".

    At a boundary q where the reference is palindromic, D begins with its first symbol, after
    i = 1..reach palindrome symbols. `d`, `codes` and `window` are as in find_d, `found` is its
    result, `ends` the range of ends of D. Return the result of find_d, with these segments added.
    """
    for first in range(1, length, CHUNK):
        starts = _turns_at_d(first, d, ends[0], scratch)
        while starts != NOTHING:
            q = first + trailing_zeros(starts)
            found = _add_palindrome(symbols, length, d, codes, ends, q, window, found, scratch)
            starts &= starts - ONE
    return found


@jit(inline=True, part=True, norefs=True)
def _turns_at_d(first: int, d: Any, fewest: int, scratch: Any) -> Any:
    """Return a mask of CHUNK boundaries at which a D after a palindrome can begin.

    Bit i is that of boundary first + i.

    There the reference is its own reverse complement, and matches the first symbol of D if D keeps
    at least one (`fewest`).
    """
    masks, gene, _, _, _ = d
    reach = load(scratch.reaches, first, CHUNK_LANES)
    if fewest == 0:
        return bits_of(reach > 0)
    code = np.int64(0)
    for letter in range(4):
        code |= np.int64(masks[16 * gene + (1 << letter)] & ONE) << letter
    here = load(scratch.padded, PAD + first, CHUNK_LANES) & code
    return bits_of(minimum(reach, here) > 0)


@jit(inline=True, part=True, norefs=True)
def _add_palindrome(
    symbols: Any,
    length: int,
    d: Any,
    codes: Any,
    ends: Any,
    q: int,
    window: Any,
    found: Any,
    scratch: Any,
) -> Any:
    """Add the segments whose D begins at boundary q, after 1..reach palindrome symbols.

    For the arguments see find_palindromic_d; `found` and the result are in the form of find_d.
    """
    of_d, begin, _ = codes
    germline = d[3]
    n, crossing, longest, left, right = found
    reach, end = np.int64(scratch.reaches[q]), 0
    while end < ends[1] and q + end < length and of_d[begin + end] & symbols[q + end]:
        end += 1
    if end < ends[0]:
        return found
    if end + reach > longest:
        longest, left, right = end + reach, q - reach + 1, q + end
    if end + reach == longest:
        left, right = min(left, q - reach + 1), max(right, q + end)
    for e in range(max(ends[0], window[1] - q), end + 1):
        for i in range(max(1, q - window[0]), reach + 1):
            d_class = i * END_CLASSES + max(0, e - germline)
            scratch.crossing[crossing] = pack_segment(q - i, q + e, d_class)
            crossing += 1
    return n, crossing, longest, left, right


@jit(inline=True, part=True, norefs=True)
def pack_segment(a: int, b: int, number: int) -> Any:
    """Pack a D segment R[a:b] as uint32: a, b (8 bits each), and its class or multiplicity."""
    return np.uint32(a | b << 8 | number << 16)


@jit(inline=True, part=True, norefs=True)
def unpack_segment(word: Any) -> Any:
    """Return a, b, and the class or multiplicity of a segment that pack_segment packed."""
    number = np.int64(word)
    return number & 255, (number >> 8) & 255, number >> 16
