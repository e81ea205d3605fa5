"""Sets of files whose records belong together; a store has one set after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gangsaw.codecs.core.errors import BadParams

ALTERNATING = "i"  # one file with alternating mates
HINT = "--sets 2,1 is two files of mates and one of singles; i,1 has alternating mates in the first"


@dataclass(frozen=True)
class FileSet:
    """Set of input files whose records with the same number are mates.

    Attributes
    ----------
    files : numbers of the files, from 0, in the user's order
    interleaved : True if mates alternate in the only file
    first, records : number of the first record in a store, and number of records; 0 until known
    """

    files: tuple[int, ...]
    interleaved: bool = False
    first: int = 0
    records: int = 0

    @property
    def together(self) -> int:
        """Number of records in a group: 2 for mates."""
        return 2 if self.interleaved else len(self.files)

    @property
    def last(self) -> int:
        """Number of the store's record after the last one of the set."""
        return self.first + self.records


@dataclass(frozen=True)
class RecordRun:
    """Consecutive records of a store, first..last - 1, all of one set of files."""

    of: FileSet
    first: int
    last: int


def parse_sets(text: str, n_files: int) -> tuple[FileSet, ...]:
    """Parse a list of sets of files such as "2,1,1" for four files; "2" makes sets of two.

    Raises BadParams for invalid text, or for another number of files.
    """
    words = [word.strip() for word in text.split(",")]
    if not all(word == ALTERNATING or (word.isdecimal() and int(word) > 0) for word in words):
        raise BadParams(f"--sets must be like 2,1,1, got {text!r}: {HINT}")
    sizes = [1 if word == ALTERNATING else int(word) for word in words]
    if len(words) == 1 and n_files % sizes[0] == 0:
        n = n_files // sizes[0]
        words, sizes = words * n, sizes * n
    if sum(sizes) != n_files:
        raise BadParams(f"--sets {text} is of {sum(sizes)} files, not of {n_files}: {HINT}")
    firsts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(
        FileSet(tuple(range(first, first + size)), word == ALTERNATING)
        for word, first, size in zip(words, firsts, sizes, strict=True)
    )


def number_sets(sets: Iterable[FileSet], records: Sequence[int]) -> tuple[FileSet, ...]:
    """Return the sets of files with their numbers of records, and the first record of each."""
    found, first = [], 0
    for own, n in zip(sets, records, strict=True):
        found.append(replace(own, first=first, records=n))
        first += n
    return tuple(found)


def split_by_set(sets: Iterable[FileSet], first: int, last: int) -> Iterator[RecordRun]:
    """Split records first..last - 1 by the set of files they come from; nothing if empty."""
    for own in sets:
        begin, end = max(first, own.first), min(last, own.last)
        if begin < end:
            yield RecordRun(own, begin, end)


def describe_sets(sets: Iterable[FileSet], names: Sequence[str]) -> Iterator[str]:
    """Yield a description of each set of files, with their names, for messages."""
    for own in sets:
        files = " + ".join(names[i] for i in own.files)
        yield f"{files}, alternating mates" if own.interleaved else files
