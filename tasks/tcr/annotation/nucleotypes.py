"""Nucleotypes: what errors made goes to what it was made of, and the reads of one agree on letters.

As MiXCR does, reads with doubtful letters count for the nucleotype that they are like. Beyond that
they tell of its letters, too: two reads that agree on a doubtful letter are as good as one that is
sure, and no read needs to be sure of all. Which is an error is judged by the best quality alone:
in forty reads the same error comes twice, and by sums one row in thirty was wrong.
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
from gangsaw.codecs.core.parameters import require_int
from gangsaw.tasks.tcr.annotation.index import Ints
from gangsaw.tasks.tcr.annotation.keys import KeyTable

SURE = 20  # Phred value from which on a letter is no doubtful one
HIGHEST = 93  # Phred value that a FASTQ can tell
ROUNDS = 3  # of merging: what letters by consensus made alike
BASES = 4
Sign = tuple[int, bytes, int, int]  # number of a piece of a junction, its codes, a V, a J


@dataclass(frozen=True)
class MergeRule:
    """Which nucleotypes are taken for errors of another one.

    One goes to another with at least as many reads, genes that fit both, a junction as long and at
    most `max_errors` other letters, if each of these is doubtful (below Q20 in all reads of one of
    both), or if the other one has `ratio` times as many reads.

    Attributes
    ----------
    max_errors : letters of the junction, 0 merges none
    ratio : reads of the other one for each of this
    min_quality : the least that each letter of a junction must have: the sum of the Phred values of
        the reads that have it, less that of the reads that have the second best letter
    """

    max_errors: int = 2
    ratio: float = 10.0
    min_quality: int = SURE

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        require_int("max_errors", self.max_errors, 0, 8)
        require_int("min_quality", self.min_quality, 0, HIGHEST)
        if not self.ratio >= 1:
            raise BadParams(f"ratio must be 1 or more, got {self.ratio}")


class NucleotypeRow(NamedTuple):
    """What is told of a nucleotype; see there.

    Attributes
    ----------
    quality : the least of its letters
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
        """What orders the rows of a table."""
        return -self.reads, self.v, self.j, self.junction


@dataclass(eq=False)
class Nucleotype:
    """A junction with its V and J.

    Attributes
    ----------
    v, j : numbers of genes that fit equally well, of the most reads
    junction : codes of letters
    reads : of it, and of those that errors made
    best : best Phred value of each letter, of the reads that have it
    votes : (4, L) sums of the Phred values of the reads that have A, C, G or T there
    text, place : codes of its best read, and where the junction begins there
    merged : reads that errors made
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
        """Genes and junction, which no other one has."""
        return self.v, self.j, self.junction

    @cached_property
    def codes(self) -> NDArray[np.uint8]:
        """Of the junction."""
        return np.frombuffer(self.junction, np.uint8)

    @property
    def qualities(self) -> Ints:
        """Phred value of each letter by all reads: that for it less that for the next best."""
        others, places = self.votes.copy(), np.arange(self.codes.size)
        own = others[self.codes, places]
        others[self.codes, places] = 0
        quality: Ints = np.clip(own - others.max(axis=0), 0, HIGHEST)
        return quality

    def row(self) -> NucleotypeRow:
        """Return what is told of it; the letters of its best read with its own junction there."""
        behind = self.text[self.place + len(self.junction) :]
        sequence = self.text[: self.place] + self.junction + behind
        own = (self.v, self.j, self.junction, self.reads, self.merged)
        return NucleotypeRow(*own, int(self.qualities.min()), sequence)

    def take(self, child: Nucleotype) -> None:
        """Add the reads of another one."""
        same = child.codes == self.codes
        self.reads += child.reads
        self.merged += child.merged if same.all() else child.reads
        self.votes += child.votes
        np.maximum(self.best, child.best, out=self.best, where=same)

    def agreed(self) -> Nucleotype:
        """Return it with the letters that most speaks for; its own of equal ones."""
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
    """Yield the rows of a table, those of most reads first."""
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


def merged(found: Iterable[Nucleotype], rule: MergeRule) -> list[Nucleotype]:
    """Return nucleotypes, those of most reads first.

    Parameters
    ----------
    found : in this order, too; their junctions are all as long
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
    """Finds junctions with few other letters: of max_errors + 1 pieces they share one.

    And they share genes: the outer pieces alone, of V and J, are those of thousands.
    """

    def __init__(self, rule: MergeRule) -> None:
        self.rule, self.all = rule, list[Nucleotype]()
        self._by_sign = defaultdict[Sign, list[int]](list)  # numbers in `all`

    def add(self, one: Nucleotype) -> None:
        """Take one that is no error."""
        for sign in self._signs(one):
            self._by_sign[sign].append(len(self.all))
        self.all.append(one)

    def parent(self, child: Nucleotype) -> Nucleotype | None:
        """Return what the child is an error of: the one of fewest other letters, then the first."""
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
        """Yield each piece with each pair of genes."""
        parts, n = self.rule.max_errors + 1, len(one.junction)
        for number in range(parts):
            piece = one.junction[number * n // parts : (number + 1) * n // parts]
            yield from ((number, piece, v, j) for v in one.v for j in one.j)

    def _errors(self, child: Nucleotype, parent: Nucleotype) -> int | None:
        """Return how many letters differ, or None where the child is no error of the parent."""
        differ = child.codes != parent.codes
        errors = int(np.count_nonzero(differ))
        if errors > self.rule.max_errors:
            return None
        doubt = np.minimum(child.best[differ], parent.best[differ])
        is_doubtful = not (doubt >= SURE).any()
        return errors if is_doubtful or parent.reads >= self.rule.ratio * child.reads else None


def _ties(row: NDArray[np.int16]) -> tuple[int, ...]:
    return tuple(gene for gene in row.tolist() if gene >= 0)
