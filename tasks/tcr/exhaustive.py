"""Recombination paths constructed one by one: slow, for tiny inputs, to check the fast counts.

Nothing is computed here that could be constructed: gene ends are extended by palindromes and
eroded, every n-string over the alphabet is written, and the result is compared with the reference.
Steps join to the left of what is there, in the order of the source: J end, N2,
J-side end of D, V-side end of D, N1, V end. Later steps leave what was joined as it is, so a
molecule that the reference does not end with is dropped at once; n-strings are never chosen by
looking at the reference.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias, Unpack, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import COMPLEMENT_OF_SET
from gangsaw.tasks.tcr.model import EndLimits, Model
from gangsaw.tasks.tcr.model.nucleotides import NUCLEOTIDES, encoded, strict

MAX_MOLECULES = 10_000_000  # some ten seconds
VIRTUAL = b"\0"  # a symbol that fits nothing, where a palindrome has nothing to copy

DEFAULTS: EndLimits = {"max_p": 1, "max_n": 2}
Table: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Constructed:
    """How many paths lead to a reference.

    Attributes
    ----------
    paths : [n][pi], all of them, those with a zero-length D included; pi = 0..max_p limits the
        palindrome at each end. n = 0..max_n is in DP-1 the exact number of n-nucleotides of all
        junctions, in DP-2 the limit of each junction
    zero_length_d : [n][pi], those of them in which every D has length zero, in whichever way; for
        a V-J chain the same as `paths`
    """

    paths: Table
    zero_length_d: Table


def exhaustive(
    cdr3: str,
    v: str,
    j: str,
    d: str | Sequence[str],
    *,
    model: Literal["dp1", "dp2"] = "dp1",
    **limits: Unpack[EndLimits],
) -> Constructed:
    """Construct every recombination path and count those that lead to `cdr3`.

    The exhaustive method of the source: SPEC.md, "DP-1" for "dp1", "DP-2" for "dp2".
    Palindromes are made of concrete n-nucleotides, so "dp2" is exact, too, where the reference has
    wildcards and count_paths gives an upper bound.

    Parameters
    ----------
    cdr3 : reference without the conserved Cys and Phe/Trp codons, IUPAC letters
    v, j : germline parts: V after its Cys codon, J before its Phe/Trp codon
    d : whole D gene; () for a V-J chain; two genes for V-D-D-J (DP-2 only), the V-side one first
    model : "dp1" or "dp2"
    limits : strands, max_p, max_n, min_d_end as in count_paths; by default max_p is 1 and max_n 2

    Raises
    ------
    BadParams : a sequence is empty, has another letter or is shorter than max_p; a parameter is out
        of its range; or more than MAX_MOLECULES might have to be constructed: the message says how
        many
    """
    if model not in ("dp1", "dp2"):
        raise BadParams(f"model must be dp1 or dp2 here, got {model!r}")
    genes = [d] if isinstance(d, str) else list(d)
    n_genes = cast("Literal[1, 2]", max(1, len(genes)))  # Model refuses others
    chosen = DEFAULTS.copy()
    chosen.update(limits)
    rules = Model.of(model, d_segments=n_genes, **chosen)
    reference = strict(cdr3, "cdr3").tobytes()
    most_n = _most_n(reference, rules)
    ends = _gene(v, "v", rules), _gene(j, "j", rules)
    middle = [_gene(gene, "d", rules) for gene in genes]
    steps = [_j_end(ends[1], rules)]
    for gene in reversed(middle):
        steps += [_n_strings(most_n, rules), _d_gene(gene, rules)]
    steps += [_n_strings(most_n, rules), _v_end(ends[0], rules)]
    _refuse_large(reference, len(ends[0]), len(ends[1]), [len(gene) for gene in middle], rules)
    return _tallied(_constructed(reference, steps), rules)


class Molecule(NamedTuple):
    """The joined part so far, up to the end of J, and what its path has needed.

    symbols: 4-bit codes; p: the longest extension; n: n-nucleotides, in DP-1 of all junctions, in
    DP-2 of the junction with most; empty: whether every D has length zero.
    """

    symbols: bytes
    p: int
    n: int
    empty: bool


Step: TypeAlias = Callable[[Molecule], Iterator[Molecule]]
START = Molecule(b"", 0, 0, True)


def _constructed(reference: bytes, steps: Iterable[Step]) -> Iterator[Molecule]:
    """Do each step in every way that there is, and yield the molecules that are the reference."""
    molecules = [START]
    for step in steps:
        made = itertools.chain.from_iterable(map(step, molecules))
        molecules = [molecule for molecule in made if _fits(molecule.symbols, reference)]
    return (molecule for molecule in molecules if len(molecule.symbols) == len(reference))


def _fits(symbols: bytes, reference: bytes) -> bool:
    """Whether the reference can end with these symbols."""
    offset = len(reference) - len(symbols)
    return offset >= 0 and all(map(int.__and__, symbols, reference[offset:]))


def _tallied(molecules: Iterable[Molecule], rules: Model) -> Constructed:
    """Sort paths by what they need: each is in all cells of the tables that allow as much."""
    found = Counter((molecule.n, molecule.p, molecule.empty) for molecule in molecules)
    empty = Counter({needs: count for needs, count in found.items() if needs[2]})
    return Constructed(_table(found, rules), _table(empty, rules))


def _table(found: Counter[tuple[int, int, bool]], rules: Model) -> Table:
    def cell(limit: int, pi: int) -> int:
        return sum(
            count
            for (n, p, _), count in found.items()
            if p <= pi and (n == limit if rules.dp1 else n <= limit)
        )

    limits = range(rules.max_n + 1) if rules.dp1 else rules.nus
    return tuple(tuple(cell(limit, pi) for pi in rules.pis) for limit in limits)


# the steps


def _extensions(length: int, rules: Model) -> Iterator[int]:
    """Yield each extension of a gene's end; with two strands, those with a palindrome twice."""
    yield 0
    for p in range(1, min(rules.max_p, length) + 1):
        yield from [p] * rules.strands


def _end_fragments(length: int, rules: Model) -> Iterator[tuple[int, int]]:
    """Yield (extension, symbols left) of a V or J: in DP-1 one for each length, else the cuts."""
    if rules.dp1:
        longest = length + min(rules.max_p, length)
        yield from ((max(0, left - length), left) for left in range(longest + 1))
        return
    for p in _extensions(length, rules):
        yield from ((p, left) for left in range(length + p + 1))


def _j_end(gene: bytes, rules: Model) -> Step:
    def step(molecule: Molecule) -> Iterator[Molecule]:
        for p, left in _end_fragments(len(gene), rules):
            extended = _other_strand(gene)[len(gene) - p :] + gene
            yield _joined(extended[len(extended) - left :], molecule, p)

    return step


def _v_end(gene: bytes, rules: Model) -> Step:
    def step(molecule: Molecule) -> Iterator[Molecule]:
        for p, left in _end_fragments(len(gene), rules):
            extended = gene + _other_strand(gene)[:p]
            yield _joined(extended[:left], molecule, p)

    return step


def _most_n(reference: bytes, rules: Model) -> int:
    """Return how long an n-string is written at most: a longer one is no part of the reference."""
    return min(rules.max_n, len(reference))


def _n_strings(most: int, rules: Model) -> Step:
    alphabet = encoded("".join(NUCLEOTIDES)).tolist()

    def step(molecule: Molecule) -> Iterator[Molecule]:
        spent = molecule.n if rules.dp1 else 0
        for n in range(most - spent + 1):
            needed = max(molecule.n, spent + n)
            for string in itertools.product(alphabet, repeat=n):
                yield Molecule(bytes(string) + molecule.symbols, molecule.p, needed, molecule.empty)

    return step


def _d_gene(gene: bytes, rules: Model) -> Step:
    return _d_at_once(gene, rules) if rules.dp1 else _d_in_order(gene, rules)


def _d_at_once(gene: bytes, rules: Model) -> Step:
    """DP-1: any part, empty ones included, of D with palindromes at both ends."""
    p, other = min(rules.max_p, len(gene)), _other_strand(gene)
    extended = other[len(gene) - p :] + gene + other[:p]

    def step(molecule: Molecule) -> Iterator[Molecule]:
        for start in range(len(extended) + 1):
            for end in range(start, len(extended) + 1):
                used = max(0, p - start, end - p - len(gene))
                yield _joined(extended[start:end], molecule, used, start == end)

    return step


def _d_in_order(gene: bytes, rules: Model) -> Step:
    """DP-2: D is cut at its J side and joined; then its V side copies whatever follows the cut.

    An extension that is longer than what follows has virtual symbols, which erosion has to remove.
    Erosion ends where D ends.
    """

    def step(molecule: Molecule) -> Iterator[Molecule]:
        for right in _extensions(len(gene), rules):
            extended = gene + _other_strand(gene)[:right]
            for left_of_d in range(rules.min_d_end, len(extended) + 1):
                yield from v_side(_joined(extended[:left_of_d], molecule, right), left_of_d)

    def v_side(molecule: Molecule, left_of_d: int) -> Iterator[Molecule]:
        for p in _extensions(len(gene), rules):
            palindrome = _other_strand(molecule.symbols[:p]).rjust(p, VIRTUAL)
            whole = palindrome + molecule.symbols
            for cut in range(p + left_of_d + 1):
                empty = molecule.empty and cut == p + left_of_d
                yield Molecule(whole[cut:], max(molecule.p, p), molecule.n, empty)

    return step


def _joined(fragment: bytes, molecule: Molecule, p: int, empty: bool = True) -> Molecule:
    """Join a fragment whose extension had `p` symbols."""
    symbols = fragment + molecule.symbols
    return Molecule(symbols, max(molecule.p, p), molecule.n, molecule.empty and empty)


def _other_strand(symbols: bytes) -> bytes:
    return symbols[::-1].translate(_COMPLEMENTS)


_COMPLEMENTS = COMPLEMENT_OF_SET.tobytes().ljust(256, VIRTUAL)


# what is refused


def _gene(sequence: str, what: str, rules: Model) -> bytes:
    gene = strict(sequence, what).tobytes()
    if len(gene) < rules.shortest:
        raise BadParams(f"{what} has {len(gene)} nucleotides, fewer than max_p, {rules.shortest}")
    return gene


def _refuse_large(reference: bytes, v: int, j: int, d: list[int], rules: Model) -> None:
    """Bound the molecules that are made, by the lengths of those that may have to be gone on with.

    Every fragment might fit, but of the n-strings of n symbols at most w^n, where w is what the
    widest wildcard of the reference may be.
    """
    widest, most_n = max(symbol.bit_count() for symbol in reference), _most_n(reference, rules)
    strings, fitting = (
        Counter({n: letters**n for n in range(most_n + 1)}) for letters in (4, widest)
    )
    of_v, of_j = (Counter(left for _, left in _end_fragments(end, rules)) for end in (v, j))
    stages = [(of_j, of_j)]
    for length in reversed(d):
        stages += [(strings, fitting), (_d_lengths(length, rules),) * 2]
    stages += [(strings, fitting), (of_v, of_v)]
    made, lengths = 0, Counter({0: 1})
    for all_of_them, those_that_fit in stages:
        made += lengths.total() * all_of_them.total()
        lengths = _joined_lengths(lengths, those_that_fit, len(reference))
    if made > MAX_MOLECULES:
        raise BadParams(
            f"up to {made:,} molecules would have to be constructed, more than {MAX_MOLECULES:,}; "
            "take shorter genes, a smaller max_n or max_p, or count_paths"
        )


def _joined_lengths(ones: Counter[int], others: Counter[int], longest: int) -> Counter[int]:
    joined: Counter[int] = Counter()
    for one, other in itertools.product(ones, others):
        if one + other <= longest:
            joined[one + other] += ones[one] * others[other]
    return joined


def _d_lengths(length: int, rules: Model) -> Counter[int]:
    """How many ways the cuts of a D have to leave each length."""
    if rules.dp1:
        cuts = range(length + 2 * min(rules.max_p, length) + 1)
        return Counter(end - start for start in cuts for end in cuts if start <= end)
    return Counter(
        left
        for right in _extensions(length, rules)
        for left_of_d in range(rules.min_d_end, length + right + 1)
        for p in _extensions(length, rules)
        for left in range(left_of_d + p + 1)
    )
