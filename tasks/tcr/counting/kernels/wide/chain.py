"""Ways along the chain: from V over junctions and D genes, boundary by boundary, for one pi.

A row has the ways to one boundary for each nu of the sweep. The arrays determine the type of
numbers: integers modulo 2^64, or floating point if only the magnitude is needed.
"""

from __future__ import annotations

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.tcr.counting.kernels.reference import Reference
from gangsaw.tasks.tcr.counting.kernels.stages.ends import WAYS
from gangsaw.tasks.tcr.counting.kernels.stages.match import complement
from gangsaw.tasks.tcr.counting.kernels.wide.tables import Numbers, WideLimits, WideTables, WideWork
from gangsaw.tasks.tcr.model.nucleotides import Codes


@jit(part=True, norefs=True)
def find_wide_palindromes(symbols: Codes, length: int, max_p: int, turns: Numbers) -> None:
    """Find the boundaries around which the reference is its own reverse complement.

    Fill turns[q] with half the length of that palindrome around boundary q, at most max_p.
    """
    for q in range(length + 1):
        most = min(q, length - q, max_p)
        t = 0
        while t < most and symbols[q - 1 - t] & complement(symbols[q + t]):
            t += 1
        turns[q] = t


@jit(part=True, norefs=True)
def leave_v(
    reference: Reference, ways: NumpyArray, place: int, limits: WideLimits, work: WideWork
) -> None:
    """Fill work.from_v[b, nu]: numbers of paths from V over one junction to boundary b.

    V ends after k symbols of the reference R in `ways[place + k]` ways; R[k:b] is the n-string.
    """
    symbols, n_nus = work.symbols, len(limits.nus)
    for b in range(reference.length + 1):
        strings, total, k = work.unit[0], work.unit[1], 0
        for m in range(b + 1):
            if m:
                strings *= WAYS[symbols[b - m]]
            if b - m <= reference.v_match:
                total += ways[place + b - m] * strings
            while k < n_nus and limits.nus[k] == m:
                work.from_v[b * n_nus + k] = total
                k += 1
            if k == n_nus:
                break
        work.from_v[b * n_nus + k : (b + 1) * n_nus] = total


@jit(part=True, norefs=True)
def reach_j(
    reference: Reference, ways: NumpyArray, place: int, limits: WideLimits, work: WideWork
) -> None:
    """Fill work.to_j[b, nu]: numbers of paths from boundary b over one junction to J.

    work.j_row[b] gets the ways of J to begin at b; J of k symbols has `ways[place + k]` ways.
    """
    symbols, n_nus, length = work.symbols, len(limits.nus), reference.length
    work.j_row[: length + 1] = 0
    for k in range(reference.j_match + 1):
        work.j_row[length - k] = ways[place + k]
    for b in range(length + 1):
        strings, total, k = work.unit[0], work.unit[1], 0
        for m in range(length - b + 1):
            if m:
                strings *= WAYS[symbols[b + m - 1]]
            total += work.j_row[b + m] * strings
            while k < n_nus and limits.nus[k] == m:
                work.to_j[b * n_nus + k] = total
                k += 1
            if k == n_nus:
                break
        work.to_j[b * n_nus + k : (b + 1) * n_nus] = total


@jit(part=True, norefs=True)
def pass_junction(
    reference: Reference, source: NumpyArray, target: NumpyArray, limits: WideLimits, work: WideWork
) -> None:
    """Extend partial paths by an N junction: fill target[b, nu] from source[a, nu].

    Both are numbers of paths to a boundary of the reference R. Each is multiplied by the number of
    n-strings that R[a:b], of at most nu symbols, stands for.
    """
    n_nus = len(limits.nus)
    for b in range(reference.length + 1):
        strings, k = work.unit[0], 0
        target[b * n_nus : (b + 1) * n_nus] = 0
        for m in range(b + 1):
            if m:
                strings *= WAYS[work.symbols[b - m]]
            while k < n_nus and limits.nus[k] < m:
                k += 1
            for lane in range(k, n_nus):
                target[b * n_nus + lane] += source[(b - m) * n_nus + lane] * strings


@jit(part=True, norefs=True)
def pass_d(
    reference: Reference,
    source: NumpyArray,
    empty: int,
    target: NumpyArray,
    limits: WideLimits,
    work: WideWork,
) -> None:
    """Extend partial paths by a D gene: fill target[b, nu] from source[a, nu].

    Both are numbers of paths to a boundary of the reference R. Each is multiplied by work.weights,
    the ways of D to be R[a:b].

    `empty` is the number of ways to delete the gene completely (a = b).
    """
    n_nus, side = len(limits.nus), reference.length + 1
    for b in range(side):
        for k in range(n_nus):
            target[b * n_nus + k] = source[b * n_nus + k] * empty
        for a in range(b):
            ways = work.weights[b * side + a]
            if ways:
                for k in range(n_nus):
                    target[b * n_nus + k] += source[a * n_nus + k] * ways


@jit(part=True, norefs=True)
def join_to_j(reference: Reference, source: NumpyArray, limits: WideLimits, work: WideWork) -> None:
    """Join partial paths to J: fill work.total[nu], the sum of source[b, nu] * work.to_j[b, nu]."""
    n_nus = len(limits.nus)
    work.total[:n_nus] = 0
    for b in range(reference.length + 1):
        for k in range(n_nus):
            work.total[k] += source[b * n_nus + k] * work.to_j[b * n_nus + k]


@jit(part=True, norefs=True)
def weigh_d(gene: int, p: int, reference: Reference, tables: WideTables, work: WideWork) -> None:
    """Fill work.weights[b, a]: in how many ways a D gene becomes R[a:b], a part of reference R.

    This is for the pi (longest palindrome) with index p.

    The J-side cut leaves e symbols of the gene with its right palindrome. The V-side cut leaves a
    segment that ends there, or all of it after a palindrome of the next symbols in the reference.
    """
    size = tables.d_germline[gene]
    left_width = tables.d_starts[gene + 1] - tables.d_starts[gene] - size + 1
    right = tables.right_offsets[gene] + p * (size + left_width)
    left = tables.left_offsets[gene] + p * left_width
    positions = (tables.d_starts[gene], tables.d_starts[gene + 1], right, left, left_width - 1)
    arrays = (tables.d, tables.right_ways, tables.left_ways)
    weigh_pieces(reference, arrays, positions, work)


@jit(part=True, norefs=True)
def weigh_pieces(
    reference: Reference,
    arrays: tuple[Codes, NumpyArray, NumpyArray],
    positions: tuple[int, int, int, int, int],
    work: WideWork,
) -> None:
    """Fill work.weights[b, a]: in how many ways a gene becomes R[a:b], a part of reference R.

    Parameters
    ----------
    reference : limits of the matches
    arrays : codes of genes, ways of the cuts at their right end, and at their left end
    positions : in these arrays, start and end of the gene, and start of its right and left cuts;
        longest left palindrome
    work : output
    """
    codes, right_ways, left_ways = arrays
    start, stop, right, left, longest = positions
    length, side = reference.length, reference.length + 1
    work.weights[: side * side] = 0
    work.runs[:side] = 0
    for e in range(1, stop - start + 1):
        cut = right_ways[right + e]
        if not cut:
            return  # a longer palindrome has no ways, either
        for b in range(length, 0, -1):
            run = work.runs[b - 1] + 1 if codes[start + e - 1] & work.symbols[b - 1] else 0
            work.runs[b] = run
            for a in range(b - run, b):
                work.weights[b * side + a] += cut * left_ways[left]
            if run == e:
                add_palindromic_d(b, e, cut, left_ways, left, longest, work, side)


@jit(part=True, norefs=True)
def add_palindromic_d(
    b: int,
    e: int,
    cut: int,
    left_ways: NumpyArray,
    left: int,
    longest: int,
    work: WideWork,
    side: int,
) -> None:
    """Add a D after palindromes of what follows the boundary where it begins.

    D has e symbols and ends at boundary b of the reference. A palindrome of i symbols adds to the
    weight of the segment from b - e - i to b.

    Parameters
    ----------
    b, e : end of D in the reference, and number of its symbols
    cut : ways of its J-side cut
    left_ways, left : ways of V-side cuts by palindrome length, and offset of the gene in them
    longest : longest palindrome
    work : palindromes of the reference; weights, which are changed
    side : number of boundaries, the row length of the weights
    """
    q = b - e
    for i in range(1, min(work.turns[q], longest) + 1):
        work.weights[b * side + q - i] += cut * left_ways[left + i]


@jit(part=True, norefs=True)
def add_emptied(
    gene: int, p: int, reference: Reference, tables: WideTables, work: WideWork
) -> None:
    """Add to work.weights the palindromes after a D whose J-side cut has deleted it completely.

    They copy the following symbols of the reference; `p` is the index of pi.
    """
    size = tables.d_germline[gene]
    left_width = tables.d_starts[gene + 1] - tables.d_starts[gene] - size + 1
    cut = tables.right_ways[tables.right_offsets[gene] + p * (size + left_width)]
    left = tables.left_offsets[gene] + p * left_width
    side = reference.length + 1
    for q in range(side):
        add_palindromic_d(q, 0, cut, tables.left_ways, left, left_width - 1, work, side)
