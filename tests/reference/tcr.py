"""Slow, plain Python counts of T-cell-receptor recombination paths.

Written from tasks/tcr/SPEC.md alone, sum by sum as it defines them, in Python's unbounded
integers and without any closed form, prefix sum or packed word, so that it can be read beside the
text. Imports nothing of the package it checks. Sequences are lists of 4-bit codes; boundaries and
intervals are counted from 0 and half-open, as in the specification; R is the reference, of length
L.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Codes = list[int]
Matrix = dict[tuple[int, int], int]  # over boundaries of R; what is absent is 0

CODES = {"A": 1, "T": 2, "U": 2, "C": 4, "G": 8, "R": 9, "Y": 6, "S": 12, "W": 3, "K": 10, "M": 5}
CODES |= {"B": 14, "D": 11, "H": 7, "V": 13, "N": 15}


@dataclass(frozen=True)
class Rules:
    """What the specification leaves to choose.

    strands: 1 or 2, cut at palindromes; pmax: symbols of palindrome that are matched at all;
    e_min: what the J-side cut leaves of a D, 1, or 0 for the `_emin0` vectors.
    """

    strands: int = 1
    pmax: int = 4
    e_min: int = 1


# symbols


def encode(text: str) -> Codes:
    """Codes of the letters, 0 for what is none."""
    return [CODES.get(letter.upper(), 0) for letter in text]


def complement(code: int) -> int:
    """A with T, C with G, in every set."""
    swapped = {1: 2, 2: 1, 4: 8, 8: 4}
    return sum(other for bit, other in swapped.items() if code & bit)


def rc(codes: Sequence[int]) -> Codes:
    """Reverse complement."""
    return [complement(code) for code in reversed(codes)]


def w(code: int) -> int:
    """How many nucleotides a symbol may be."""
    return code.bit_count()


def n_ways(r: Codes, i: int, j: int) -> int:
    """How many n-strings are R[i:j]: the product of w."""
    product = 1
    for k in range(i, j):
        product *= w(r[k])
    return product


def matches(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two equally long strings are compatible symbol by symbol."""
    return len(left) == len(right) and all(a & b for a, b in zip(left, right, strict=True))


def extended_v(v: Codes, p: int) -> Codes:
    """V with p palindrome symbols at its free end."""
    return v + rc(v)[:p]


def extended_j(j: Codes, p: int) -> Codes:
    """J with p palindrome symbols at its free end."""
    return rc(j)[max(0, len(j) - p) :] + j


def extended_d(d: Codes, p: int) -> Codes:
    """D with p palindrome symbols at both ends."""
    return rc(d)[max(0, len(d) - p) :] + d + rc(d)[:p]


# multiplicities


def s(dl: int, pi: int, strands: int) -> int:
    """Ways to change the length of a gene end by dl: extension by 0..pi, then erosion."""
    ways = 0
    for extension in range(pi + 1):
        if extension >= dl:  # what is too much is eroded; an extension can be cut at each strand
            ways += strands if extension else 1
    return ways


def extension_only(dl: int, pi: int, strands: int) -> int:
    """Ways to extend by dl where nothing is eroded."""
    if not 0 <= dl <= pi:
        return 0
    return strands if dl else 1


def hidden_paths(target: Codes, d: Codes, pi: int, strands: int) -> int:
    """Ways to make `target` of D in the simultaneous model: both palindromes are D's own."""
    whole, total = extended_d(d, pi), 0
    for start in range(len(whole) - len(target) + 1):
        end = start + len(target)
        if matches(whole[start:end], target):
            total += s(pi - start, pi, strands) * s(end - pi - len(d), pi, strands)
    return total


# V and J


def v_match(r: Codes, v: Codes, pmax: int) -> int:
    """mV: the longest prefix of extended V that R begins with."""
    gene, k = extended_v(v, pmax), 0
    while k < min(len(r), len(gene)) and gene[k] & r[k]:
        k += 1
    return k


def j_match(r: Codes, j: Codes, pmax: int) -> int:
    """mJ: the longest suffix of extended J that R ends with."""
    gene, k = extended_j(j, pmax), 0
    while k < min(len(r), len(gene)) and gene[-1 - k] & r[-1 - k]:
        k += 1
    return k


# DP-1


def match_counts(r: Codes, gene: Codes) -> list[list[int]]:
    """S[t][i]: occurrences of R[i : i+t+1] in the gene, down to the first t that has none."""
    rows: list[list[int]] = []
    while len(rows) < len(r) and (not rows or any(rows[-1])):
        t = len(rows)
        rows.append([occurrences(r[i : i + t + 1], gene) for i in range(len(r) - t)])
    return rows


def occurrences(part: Codes, gene: Codes) -> int:
    """Where a string of at least one symbol matches within the gene."""
    return sum(
        matches(gene[start : start + len(part)], part) for start in range(len(gene) - len(part) + 1)
    )


def dp1(r: Codes, v: Codes, j: Codes, d: Codes, pmax: int, n_max: int) -> list[int]:
    """Paths with a D of at least one symbol, by exact total n."""
    gene = extended_d(d, pmax)
    s_of = {}
    for a in range(len(r)):
        for b in range(a + 1, len(r) + 1):
            s_of[a, b] = occurrences(r[a:b], gene)
    return _dp1_sum(r, v, j, s_of, pmax, n_max)


def dp1_empty_unit(r: Codes, v: Codes, j: Codes, pmax: int, n_max: int) -> list[int]:
    """Paths with an empty D, by exact total n, if there were one way to empty it."""
    diagonal = {(a, a): 1 for a in range(len(r) + 1)}
    return _dp1_sum(r, v, j, diagonal, pmax, n_max)


def dp1_empty_ways(d: Codes, pmax: int) -> int:
    """z: pairs (left cut, right cut) that erase extended D, as construction gives them."""
    return len(d) + 2 * min(pmax, len(d)) + 1


def _dp1_sum(r: Codes, v: Codes, j: Codes, s_of: Matrix, pmax: int, n_max: int) -> list[int]:
    """C(n) = sum of w(R[v:a]) S(a,b) w(R[b:j]) over v <= a <= b <= j, (a-v) + (j-b) = n."""
    counts = [0] * (n_max + 1)
    v_ends = range(v_match(r, v, pmax) + 1)
    j_begins = range(len(r) - j_match(r, j, pmax), len(r) + 1)
    for (a, b), places in s_of.items():
        for v_end in v_ends:
            for j_begin in j_begins if places else ():
                n = (a - v_end) + (j_begin - b)
                if v_end <= a and b <= j_begin and n <= n_max:
                    counts[n] += n_ways(r, v_end, a) * places * n_ways(r, b, j_begin)
    return counts


def dp1_without_d(r: Codes, v: Codes, j: Codes, pmax: int, n_max: int) -> list[int]:
    """Paths V N J of a chain without D genes, by exact n."""
    counts = [0] * (n_max + 1)
    for v_end in range(v_match(r, v, pmax) + 1):
        for j_begin in range(len(r) - j_match(r, j, pmax), len(r) + 1):
            if 0 <= j_begin - v_end <= n_max:
                counts[j_begin - v_end] += n_ways(r, v_end, j_begin)
    return counts


# DP-2


def n_matrix(r: Codes, nu: int) -> Matrix:
    """N_nu(i, j): n-strings of up to nu symbols that are R[i:j]."""
    last = len(r)
    return {
        (i, j): n_ways(r, i, j) for i in range(last + 1) for j in range(i, min(i + nu, last) + 1)
    }


def self_palindrome(r: Codes, q: int) -> int:
    """Symbols before boundary q that are the reverse complement of those after it."""
    t = 0
    while q - t - 1 >= 0 and q + t < len(r) and r[q - t - 1] & complement(r[q + t]):
        t += 1
    return t


@dataclass(frozen=True)
class Event:
    """One way in which R[a:b] is what two cuts leave of a D; dl is the change of each end."""

    a: int
    b: int
    dl_left: int
    dl_right: int


def d_events(r: Codes, d: Codes, rules: Rules) -> Iterator[Event]:
    """All events of at least one symbol in the sequential model.

    The right end is cut first and leaves the first e symbols of X, D with its right palindrome.
    Then the left end is cut within these, or keeps a palindrome of whatever follows it in R.
    """
    x, g, last = d + rc(d)[: rules.pmax], len(d), len(r)
    longest = min(rules.pmax, g)  # no palindrome is longer than its gene
    for e in range(rules.e_min, g + longest + 1):
        for f in range(e):
            for a in range(last - (e - f) + 1):
                if matches(r[a : a + e - f], x[f:e]):
                    yield Event(a, a + e - f, -f, e - g)
        for q in range(last - e + 1):
            if matches(r[q : q + e], x[:e]):
                for i in range(1, min(self_palindrome(r, q), longest) + 1):
                    yield Event(q - i, q + e, i, e - g)


def d_diagonal(r: Codes, d: Codes, pi: int, rules: Rules) -> Matrix:
    """diag(D_pi): every way to erode D completely, at each boundary."""
    ways, own = 0, min(pi, len(d))
    for e in range(rules.e_min, len(d) + min(rules.pmax, len(d)) + 1):
        ways += s(e - len(d), own, rules.strands) * s(-e, own, rules.strands)
    return {(a, a): ways for a in range(len(r) + 1)}


def d_matrix(r: Codes, d: Codes, pi: int, rules: Rules) -> Matrix:
    """D_pi, its diagonal included."""
    return d_matrix_of(r, d, list(d_events(r, d, rules)), pi, rules)


def d_matrix_of(r: Codes, d: Codes, events: list[Event], pi: int, rules: Rules) -> Matrix:
    """D_pi of events that are known: they do not depend on pi, but their weights do."""
    matrix, own = defaultdict(int, d_diagonal(r, d, pi, rules)), min(pi, len(d))
    for event in events:
        weight = s(event.dl_left, own, rules.strands) * s(event.dl_right, own, rules.strands)
        matrix[event.a, event.b] += weight
    return dict(matrix)


def v_row(r: Codes, v: Codes, pi: int, rules: Rules) -> list[int]:
    """v_pi(k) at each boundary k."""
    reach, own = v_match(r, v, rules.pmax), min(pi, len(v))
    return [s(k - len(v), own, rules.strands) if k <= reach else 0 for k in range(len(r) + 1)]


def j_column(r: Codes, j: Codes, pi: int, rules: Rules) -> list[int]:
    """j_pi(L - k) at each boundary L - k."""
    reach, own = j_match(r, j, rules.pmax), min(pi, len(j))
    ways = [s(k - len(j), own, rules.strands) if k <= reach else 0 for k in range(len(r) + 1)]
    return ways[::-1]


def times(row: list[int], matrix: Matrix) -> list[int]:
    """Row vector times matrix."""
    product = [0] * len(row)
    for (i, j), value in matrix.items():
        product[j] += row[i] * value
    return product


def dp2(r: Codes, v: Codes, j: Codes, n: Matrix, parts: list[Matrix], pi: int, rules: Rules) -> int:
    """v_pi N_nu j_pi, or with parts v_pi N_nu part N_nu j_pi and so on, a part for each D.

    n is N_nu: n_matrix(r, nu).
    """
    row = times(v_row(r, v, pi, rules), n)
    for part in parts:
        row = times(times(row, part), n)
    return sum(a * b for a, b in zip(row, j_column(r, j, pi, rules), strict=True))


def identity(r: Codes) -> Matrix:
    """The part of v N N j: there is no D, but it is known where n-nucleotides were split."""
    return {(a, a): 1 for a in range(len(r) + 1)}


# region calls


def composition(part: Codes) -> list[int]:
    """A, T, C, G of a part: a wildcard adds one to each nucleotide that it contains."""
    return [sum(code & bit != 0 for code in part) for bit in (1, 2, 4, 8)]


def gene_calls(r: Codes, v: Codes, j: Codes, pmax: int) -> tuple[list[int], list[int]]:
    """L, gV, gJ, mV, mJ, dVJ; and the composition of NDN."""
    m_v, m_j = v_match(r, v, pmax), j_match(r, j, pmax)
    calls = [len(r), len(v), len(j), m_v, m_j, len(r) - m_j - m_v]
    return calls, composition(r[m_v : max(m_v, len(r) - m_j)])


def d_calls(
    r: Codes, v: Codes, j: Codes, events: list[Event], pmax: int
) -> tuple[list[int], list[int], list[int]]:
    """max_d_len, min_d_pos, max_d_pos, dVD, dDJ; and the compositions of N1 and N2."""
    m_v, m_j = v_match(r, v, pmax), j_match(r, j, pmax)
    longest = max((event.b - event.a for event in events), default=0)
    first, last = 1, len(r)
    if longest:
        places = [event for event in events if event.b - event.a == longest]
        first = min(event.a for event in places) + 1
        last = max(event.b for event in places)
    calls = [longest, first, last, first - (m_v + 1), len(r) - m_j - last]
    n1 = composition(r[m_v : max(m_v, first - 1)])
    n2 = composition(r[last : max(last, len(r) - m_j)])
    return calls, n1, n2
