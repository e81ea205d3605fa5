"""Reference implementation: constructs every recombination path; slow, for tiny inputs in tests.

No count is computed by formula. Gene ends are extended by palindromes and deleted, every n-string
over the alphabet is written, and the result is compared with the reference. Fragments are joined
on the left, in the order of the source: J end, N2, J-side end of D, V-side end of D, N1, V end.
Later steps do not change joined fragments. So a molecule is dropped as soon as it is no suffix of
the reference. N-strings are never chosen by the bases of the reference.
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

MAX_MOLECULES = 10_000_000  # takes about ten seconds
VIRTUAL = b"\0"  # symbol that matches nothing, where a palindrome has no base to copy

DEFAULTS: EndLimits = {"max_p": 1, "max_n": 2}
Table: TypeAlias = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Constructed:
    """Number of paths that lead to a reference, by limits of n-nucleotides and palindromes.

    Attributes
    ----------
    paths : [n][pi]
        All paths, including those with a zero-length D; pi = 0..max_p limits the palindrome at each
        end. n = 0..max_n is in DP-1 the exact number of n-nucleotides of all junctions, in DP-2 the
        limit of each junction.
    zero_length_d : [n][pi]
        Paths in which every D has length zero, for whatever reason; equal to `paths` for a V-J
        chain.
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
    """Construct every recombination path, and count those that lead to `cdr3`.

    This is the exhaustive method of the source: SPEC.md, "DP-1" for "dp1", "DP-2" for "dp2".
    Palindromes consist of concrete nucleotides. So "dp2" is exact even if the reference has
    wildcards, where count_paths gives an upper bound.

    Parameters
    ----------
    cdr3 : reference without the conserved Cys and Phe/Trp codons, in IUPAC codes
    v, j : germline parts: V after its Cys codon, J before its Phe/Trp codon
    d : whole D gene; () for a V-J chain; two genes for V-D-D-J (DP-2 only), the V-side one first
    model : "dp1" or "dp2"
    limits : strands, max_p, max_n, min_d_end as in count_paths; by default max_p is 1 and max_n 2

    Raises
    ------
    BadParams : a sequence is empty, has an invalid base or is shorter than max_p; a parameter is
        out of its range; or more than MAX_MOLECULES might have to be constructed (the message has
        the number)
    """
    if model not in ("dp1", "dp2"):
        raise BadParams(f"model must be dp1 or dp2 here, got {model!r}")
    genes = [d] if isinstance(d, str) else list(d)
    n_genes = cast("Literal[1, 2]", max(1, len(genes)))  # Model rejects others
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
    return _tabulate(_constructed(reference, steps), rules)


class Molecule(NamedTuple):
    """Partial molecule, from some fragment up to the end of J, and the limits that its path needs.

    symbols: 4-bit codes; p: the longest palindrome; n: n-nucleotides, in DP-1 of all junctions, in
    DP-2 the maximum over junctions; empty: True if every D has length zero.
    """

    symbols: bytes
    p: int
    n: int
    empty: bool


Step: TypeAlias = Callable[[Molecule], Iterator[Molecule]]
START = Molecule(b"", 0, 0, True)


def _constructed(reference: bytes, steps: Iterable[Step]) -> Iterator[Molecule]:
    """Apply each recombination step in every way; yield the molecules equal to the reference.

    The molecule is built from the end of J to the start of V.
    """
    molecules = [START]
    for step in steps:
        made = itertools.chain.from_iterable(map(step, molecules))
        molecules = [molecule for molecule in made if _fits(molecule.symbols, reference)]
    return (molecule for molecule in molecules if len(molecule.symbols) == len(reference))


def _fits(symbols: bytes, reference: bytes) -> bool:
    """Return True if the reference can end with these symbols."""
    offset = len(reference) - len(symbols)
    return offset >= 0 and all(map(int.__and__, symbols, reference[offset:]))


def _tabulate(molecules: Iterable[Molecule], rules: Model) -> Constructed:
    """Tabulate paths by the limits that they need; each counts in all cells that permit it."""
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


# steps of recombination


def _extensions(length: int, rules: Model) -> Iterator[int]:
    """Yield each palindrome length of a gene end; with two strands, nonzero lengths twice."""
    yield 0
    for p in range(1, min(rules.max_p, length) + 1):
        yield from [p] * rules.strands


def _end_fragments(length: int, rules: Model) -> Iterator[tuple[int, int]]:
    """Yield (palindrome length, symbols left) of a V or J; in DP-1 one per length, else per cut."""
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
    """Return the maximum length of an n-string: a longer one does not fit in the reference."""
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
    """Return the DP-1 step: any substring, empty or not, of D with palindromes at both ends."""
    p, other = min(rules.max_p, len(gene)), _other_strand(gene)
    extended = other[len(gene) - p :] + gene + other[:p]

    def step(molecule: Molecule) -> Iterator[Molecule]:
        for start in range(len(extended) + 1):
            for end in range(start, len(extended) + 1):
                used = max(0, p - start, end - p - len(gene))
                yield _joined(extended[start:end], molecule, used, start == end)

    return step


def _d_in_order(gene: bytes, rules: Model) -> Step:
    """Return the DP-2 step: join D cut at its J side, then extend and cut its V side.

    The V-side palindrome copies the symbols after the cut. If it is longer than these, it has
    virtual symbols, which deletion has to remove. Deletion ends at the end of D.
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
    """Join a fragment, whose palindrome has `p` symbols, to the left of a molecule.

    `empty` is True if the fragment is no D of at least one symbol.
    """
    symbols = fragment + molecule.symbols
    return Molecule(symbols, max(molecule.p, p), molecule.n, molecule.empty and empty)


def _other_strand(symbols: bytes) -> bytes:
    return symbols[::-1].translate(_COMPLEMENTS)


_COMPLEMENTS = COMPLEMENT_OF_SET.tobytes().ljust(256, VIRTUAL)


# checks of the arguments


def _gene(sequence: str, what: str, rules: Model) -> bytes:
    gene = strict(sequence, what).tobytes()
    if len(gene) < rules.shortest:
        raise BadParams(f"{what} has {len(gene)} nucleotides, fewer than max_p, {rules.shortest}")
    return gene


def _refuse_large(reference: bytes, v: int, j: int, d: list[int], rules: Model) -> None:
    """Raise `BadParams` if an upper bound on the number of constructed molecules is too large.

    The bound is the product of the numbers of molecules by length. It assumes that every fragment
    fits. Of the n-strings of length n, at most w^n fit, where w is the number of bases that the
    widest wildcard of the reference permits.
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
            "use shorter genes, a smaller max_n or max_p, or count_paths"
        )


def _joined_lengths(ones: Counter[int], others: Counter[int], longest: int) -> Counter[int]:
    joined: Counter[int] = Counter()
    for one, other in itertools.product(ones, others):
        if one + other <= longest:
            joined[one + other] += ones[one] * others[other]
    return joined


def _d_lengths(length: int, rules: Model) -> Counter[int]:
    """Return the number of cuts of a D by remaining length."""
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
