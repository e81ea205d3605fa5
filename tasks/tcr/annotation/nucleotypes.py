"""Nucleotypes: errors are merged into their parents, and reads of one vote on its bases.

As in MiXCR, reads with bases of low quality count for the nucleotype that they resemble. They
also vote on its bases: two agreeing bases of low quality count like one of high quality, and no
read needs high quality throughout. The best quality alone decides what is an error: in forty
reads the same error occurs twice, and sums of qualities got one row in thirty wrong.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.parameters import require_int
from gangsaw.tasks.tcr.annotation.index import Ints
from gangsaw.tasks.tcr.annotation.keys import KeyTable

SURE = 20  # lowest Phred value of a base that counts as certain
HIGHEST = 93  # highest Phred value in FASTQ
ROUNDS = 3  # rounds of merging, since the consensus can make nucleotypes equal
BASES = 4
Sign = tuple[int, bytes, int, int]  # number of a junction's segment, its codes, a V gene, a J gene


@dataclass(frozen=True)
class MergeRule:
    """Rule that decides which nucleotypes are errors of another one.

    A nucleotype is merged into one with at least as many reads. Both share a V and a J gene, and
    their junctions have the same length and at most `max_errors` mismatches. Besides, each mismatch
    must be doubtful (below Q20 in all reads of one of both), or the other must have `ratio` times
    the reads.

    Parameters
    ----------
    max_errors : int, default 2
        Mismatches in the junction; 0 merges nothing.
    ratio : float, default 10.0
        Reads of the parent per read of the error.
    min_quality : int, default 20
        Lowest quality of any base in the junction: the sum of the Phred values of the reads with
        this base, minus that of the reads with the second best base.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> tcr.MergeRule(max_errors=1)
    MergeRule(max_errors=1, ratio=10.0, min_quality=20)
    """

    max_errors: int = 2
    ratio: float = 10.0
    min_quality: int = SURE

    def __post_init__(self) -> None:
        """Raise `BadParams` for numbers out of range."""
        require_int("max_errors", self.max_errors, 0, 8)
        require_int("min_quality", self.min_quality, 0, HIGHEST)
        if not self.ratio >= 1:
            raise BadParams(f"ratio must be 1 or more, got {self.ratio}")


class NucleotypeRow(NamedTuple):
    """Row of the table: a `Nucleotype` without its votes.

    Attributes
    ----------
    quality : lowest quality of its bases
    sequence : codes of its best read
    """

    v: tuple[int, ...]
    j: tuple[int, ...]
    junction: bytes
    reads: int
    merged: int
    quality: int
    sequence: bytes

    @property
    def place(self) -> tuple[int, tuple[int, ...], tuple[int, ...], bytes]:
        """Sort key of the rows of a table."""
        return -self.reads, self.v, self.j, self.junction


@dataclass(eq=False)
class Nucleotype:
    """Distinct junction with its V and J genes, and the evidence of its reads.

    Attributes
    ----------
    v, j : numbers of the genes that fit equally well, from the entry with most reads
    junction : codes of its bases
    reads : number of reads, including merged errors
    best : (L,) uint8
        Highest Phred value of each base among the reads that have it.
    votes : (4, L) int64
        Sums of the Phred values of the reads with A, C, G or T at each position.
    text, place : codes of its best read, and the offset of the junction in it
    merged : reads with errors that were merged
    """

    v: tuple[int, ...]
    j: tuple[int, ...]
    junction: bytes
    reads: int
    best: NDArray[np.uint8]
    votes: Ints
    text: bytes = b""
    place: int = 0
    merged: int = 0

    @property
    def key(self) -> tuple[tuple[int, ...], tuple[int, ...], bytes]:
        """Genes and junction, which identify the nucleotype."""
        return self.v, self.j, self.junction

    @cached_property
    def codes(self) -> NDArray[np.uint8]:
        """Codes of the junction as an array."""
        return np.frombuffer(self.junction, np.uint8)

    @property
    def qualities(self) -> Ints:
        """Quality of each base over all reads: its votes minus those of the next best base."""
        others, places = self.votes.copy(), np.arange(self.codes.size)
        own = others[self.codes, places]
        others[self.codes, places] = 0
        quality: Ints = np.clip(own - others.max(axis=0), 0, HIGHEST)
        return quality

    def row(self) -> NucleotypeRow:
        """Return the row of the table; `sequence` is the best read with this junction inserted."""
        behind = self.text[self.place + len(self.junction) :]
        sequence = self.text[: self.place] + self.junction + behind
        own = (self.v, self.j, self.junction, self.reads, self.merged)
        return NucleotypeRow(*own, int(self.qualities.min()), sequence)

    def take(self, child: Nucleotype) -> None:
        """Merge the reads of another nucleotype."""
        same = child.codes == self.codes
        self.reads += child.reads
        self.merged += child.merged if same.all() else child.reads
        self.votes += child.votes
        np.maximum(self.best, child.best, out=self.best, where=same)

    def agreed(self) -> Nucleotype:
        """Return the nucleotype with the consensus of its junction.

        At each position it has the base with most votes, or the present base in a tie.
        """
        places = np.arange(self.codes.size)
        own = self.votes[self.codes, places]
        letters = np.where(own == self.votes.max(axis=0), self.codes, self.votes.argmax(axis=0))
        if (letters == self.codes).all():
            return self
        junction = letters.astype(np.uint8).tobytes()
        best = np.where(letters == self.codes, self.best, 0).astype(np.uint8)
        rest = (self.reads, best, self.votes, self.text, self.place, self.merged)
        return Nucleotype(self.v, self.j, junction, *rest)


def nucleotypes_of(table: KeyTable) -> Iterator[Nucleotype]:
    """Yield the rows of a table as nucleotypes, in descending order of reads."""
    n, places = table.junctions.shape[1], np.arange(table.junctions.shape[1])
    ties = table.genes.shape[1] // 2
    for row in np.argsort(-table.reads, kind="stable").tolist():
        votes = np.zeros((BASES, n), np.int64)
        votes[table.junctions[row], places] = table.sums[row]
        yield Nucleotype(
            _ties(table.genes[row, :ties]),
            _ties(table.genes[row, ties:]),
            table.junctions[row].tobytes(),
            int(table.reads[row]),
            table.best[row].copy(),
            votes,
            table.texts[row],
            int(table.places[row]),
        )


def merge_errors(found: Iterable[Nucleotype], rule: MergeRule) -> list[Nucleotype]:
    """Merge errors into their parents; return nucleotypes in descending order of reads.

    Parameters
    ----------
    found : nucleotypes in the same order, whose junctions have one length
    rule : decides what is an error
    """
    for _ in range(ROUNDS):
        near = _NearJunctions(rule)
        for one in found:
            if (parent := near.parent(one)) is None:
                near.add(one)
            else:
                parent.take(one)
        agreed = [one.agreed() if rule.max_errors else one for one in near.all]
        is_stable = all(a is b for a, b in zip(agreed, near.all, strict=True))
        found = sorted(agreed, key=lambda one: (-one.reads, one.key))
        if is_stable:
            break
    return list(found)


class _NearJunctions:
    """Index of nucleotypes, to find similar junctions with at most `max_errors` mismatches.

    Of max_errors + 1 segments, similar junctions share at least one. The key has the genes, too:
    thousands of nucleotypes share the outer segments, which come from V and J.
    """

    def __init__(self, rule: MergeRule) -> None:
        self.rule, self.all = rule, list[Nucleotype]()
        self._by_sign = defaultdict[Sign, list[int]](list)  # values are indices of `all`

    def add(self, one: Nucleotype) -> None:
        """Add a nucleotype that is not an error of another one."""
        for sign in self._signs(one):
            self._by_sign[sign].append(len(self.all))
        self.all.append(one)

    def parent(self, child: Nucleotype) -> Nucleotype | None:
        """Return the nucleotype with fewest mismatches, of which `child` is an error, or None."""
        best: tuple[int, Nucleotype] | None = None
        for other in self._candidates(child):
            errors = self._errors(child, other)
            if errors is not None and (best is None or errors < best[0]):
                best = errors, other
        return best[1] if best else None

    def _candidates(self, child: Nucleotype) -> Iterable[Nucleotype]:
        found = set().union(*(self._by_sign.get(sign, ()) for sign in self._signs(child)))
        return (self.all[number] for number in sorted(found))

    def _signs(self, one: Nucleotype) -> Iterator[Sign]:
        """Yield the lookup keys: each junction segment with each pair of a V and a J gene."""
        parts, n = self.rule.max_errors + 1, len(one.junction)
        for number in range(parts):
            piece = one.junction[number * n // parts : (number + 1) * n // parts]
            yield from ((number, piece, v, j) for v in one.v for j in one.j)

    def _errors(self, child: Nucleotype, parent: Nucleotype) -> int | None:
        """Return the number of mismatches, or None if the child is no error of the parent."""
        differ = child.codes != parent.codes
        errors = int(np.count_nonzero(differ))
        if errors > self.rule.max_errors:
            return None
        doubt = np.minimum(child.best[differ], parent.best[differ])
        is_doubtful = not (doubt >= SURE).any()
        return errors if is_doubtful or parent.reads >= self.rule.ratio * child.reads else None


def _ties(row: NDArray[np.int16]) -> tuple[int, ...]:
    return tuple(gene for gene in row.tolist() if gene >= 0)
