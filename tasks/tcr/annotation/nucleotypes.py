"""Nucleotypes of all reads: those that errors made go to what they were made of."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.parameters import require_int
from gangsaw.tasks.tcr.annotation.batch import Key, Seen

SURE = 20  # Phred value from which on a letter is no doubtful one


@dataclass(frozen=True)
class MergeRule:
    """Which nucleotypes are taken for errors of another one.

    One goes to another with at least as many reads, genes that fit both, a junction as long and at
    most `max_errors` other letters, if each of these is doubtful (below Q20 in all its reads), or
    if the other one has `ratio` times as many reads.

    Attributes
    ----------
    max_errors : letters of the junction, 0 merges none
    ratio : reads of the other one for each of this
    min_quality : the least that each letter of a junction must have in some read of it
    """

    max_errors: int = 2
    ratio: float = 10.0
    min_quality: int = SURE

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        require_int("max_errors", self.max_errors, 0, 8)
        require_int("min_quality", self.min_quality, 0, 93)
        if not self.ratio >= 1:
            raise BadParams(f"ratio must be 1 or more, got {self.ratio}")


@dataclass
class Nucleotype:
    """A junction with its V and J.

    Attributes
    ----------
    key : genes and junction of the most reads
    reads : of it, and of those that errors made
    qualities : best of each letter
    merged : reads that errors made
    """

    key: Key
    reads: int
    qualities: NDArray[np.uint8]
    merged: int = 0


@dataclass
class AnnotationTally:
    """What all batches say, added up in any order.

    Attributes
    ----------
    reads : how many there were, pairs as one
    culled : reads by reason
    keys : what the others say; memory grows with their number, and not with that of reads
    """

    reads: int = 0
    culled: Counter[str] = field(default_factory=Counter)
    keys: dict[Key, Seen] = field(default_factory=dict)

    def add(self, reads: int, culled: Counter[str], keys: dict[Key, Seen]) -> None:
        """Take those of a batch."""
        self.reads += reads
        self.culled.update(culled)
        for key, seen in keys.items():
            if (there := self.keys.get(key)) is None:
                self.keys[key] = seen
            else:
                there.add(seen.reads, seen.qualities)


def merged(keys: dict[Key, Seen], rule: MergeRule) -> list[Nucleotype]:
    """Return nucleotypes, those of most reads first; the order of `keys` is of no account."""
    near = _NearJunctions(rule)
    for key, seen in sorted(keys.items(), key=lambda item: (-item[1].reads, item[0])):
        one = Nucleotype(key, seen.reads, seen.qualities)
        if (parent := near.parent(one)) is None:
            near.add(one)
        else:
            _merge(parent, one)
    return sorted(near.all, key=lambda one: (-one.reads, one.key))


def _merge(parent: Nucleotype, child: Nucleotype) -> None:
    parent.reads += child.reads
    if parent.key.junction == child.key.junction:
        np.maximum(parent.qualities, child.qualities, out=parent.qualities)
    else:
        parent.merged += child.reads


class _NearJunctions:
    """Finds junctions with few other letters: of max_errors + 1 pieces they share one."""

    def __init__(self, rule: MergeRule) -> None:
        self.rule, self.all = rule, list[Nucleotype]()
        self._by_piece = defaultdict[tuple[int, int, bytes], list[int]](list)  # numbers in `all`

    def add(self, one: Nucleotype) -> None:
        """Take one that is no error."""
        for piece in self._pieces(one.key.junction):
            self._by_piece[piece].append(len(self.all))
        self.all.append(one)

    def parent(self, child: Nucleotype) -> Nucleotype | None:
        """Return what the child is an error of: the one of fewest other letters, then the first."""
        best: tuple[int, Nucleotype] | None = None
        for other in self._candidates(child.key):
            errors = self._errors(child, other)
            if errors is not None and (best is None or errors < best[0]):
                best = errors, other
        return best[1] if best else None

    def _candidates(self, key: Key) -> Iterable[Nucleotype]:
        pieces = (self._by_piece.get(piece, ()) for piece in self._pieces(key.junction))
        found = (self.all[number] for number in sorted(set().union(*pieces)))
        return (x for x in found if _share(x.key.v, key.v) and _share(x.key.j, key.j))

    def _pieces(self, junction: bytes) -> Iterator[tuple[int, int, bytes]]:
        bounds = np.linspace(0, len(junction), self.rule.max_errors + 2).astype(int).tolist()
        for number, first in enumerate(bounds[:-1]):
            yield len(junction), number, junction[first : bounds[number + 1]]

    def _errors(self, child: Nucleotype, parent: Nucleotype) -> int | None:
        """Return how many letters differ, or None where the child is no error of the parent."""
        a, b = (np.frombuffer(x.key.junction, np.uint8) for x in (child, parent))
        differ = a != b
        errors = int(differ.sum())
        if errors > self.rule.max_errors:
            return None
        is_doubtful = not (child.qualities[differ] >= SURE).any()
        return errors if is_doubtful or parent.reads >= self.rule.ratio * child.reads else None


def _share(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return not set(a).isdisjoint(b)
