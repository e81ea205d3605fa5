"""Reads of a store in Python: by number, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.bags import bag_of
from gangsaw.tasks.reads.export.export import records_text
from gangsaw.tasks.reads.files.kernels import gather_lines
from gangsaw.tasks.reads.files.records import Field
from gangsaw.tasks.reads.stored.record_text import names_of
from gangsaw.tasks.reads.stored.stored import Stored
from gangsaw.tasks.sequences.ragged import Ragged
from gangsaw.tasks.store.source import open_zarr
from gangsaw.tasks.store.stores import StoreLike, as_address

if TYPE_CHECKING:
    import awkward
    import pyarrow
    from dask.bag import Bag

NEAR = 1 << 10  # reads that may lie between some that are read together
BATCH_READS = 1 << 16  # that are decoded at once, fewer where they are long
BATCH_LETTERS = 1 << 24


class SingleRead(NamedTuple):
    """A read.

    Attributes
    ----------
    name, sequence : as in its file, without "@"
    quality : letters, as a rule Phred + 33; None where the store has none
    """

    name: bytes
    sequence: bytes
    quality: bytes | None


@dataclass(frozen=True, eq=False)
class Reads:
    """Some reads of a store.

    Attributes
    ----------
    names, sequences, qualities : a line of each read, None where the store has none of them;
        qualities are letters, as a rule Phred + 33
    first : number of the first read; of a list, of the lowest of its first ones
    """

    names: Ragged
    sequences: Ragged
    qualities: Ragged | None
    first: int

    def __len__(self) -> int:
        """Return how many reads these are."""
        return len(self.sequences)

    def __iter__(self) -> Iterator[SingleRead]:
        """Yield the reads one by one."""
        qualities = [None] * len(self) if self.qualities is None else self.qualities
        yield from map(SingleRead, self.names, self.sequences, qualities)

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table of large strings: name, sequence, and quality where there is one.

        Raises BadParams for letters that are no ASCII, and where pyarrow is missing.
        """
        found = {"name": self.names, "sequence": self.sequences, "quality": self.qualities}
        arrays = {name: own.to_arrow() for name, own in found.items() if own is not None}
        return import_module("pyarrow").table(arrays)

    def to_awkward(self) -> awkward.Array:
        """Return an Awkward array of such records; BadParams where awkward is missing."""
        found = {"name": self.names, "sequence": self.sequences, "quality": self.qualities}
        arrays = {name: own.to_awkward() for name, own in found.items() if own is not None}
        return import_module("awkward").zip(arrays, depth_limit=1)


class ReadSet:
    """The reads of a store, read where they are asked for.

    Attributes
    ----------
    path : of the store
    contents : what the store says of itself
    """

    def __init__(self, path: str) -> None:
        source = open_zarr(path)
        path = path if "://" in path else str(Path(path).absolute())  # workers may be elsewhere
        try:
            self._stored = Stored(source.arrays, source.attrs)
        except BadParams as error:
            raise BadParams(f"{path}: {error}") from error
        self.path, self.contents = path, self._stored.contents

    def __len__(self) -> int:
        """Return how many reads there are."""
        return self._stored.n_records

    def __repr__(self) -> str:
        """Return path and number of reads."""
        return f"<ReadSet {self.path}: {len(self):,} reads>"

    def __getitem__(
        self,
        which: SupportsIndex
        | slice[int | None, int | None, int | None]
        | Sequence[int]
        | npt.NDArray[np.int64],
    ) -> Reads:
        """Return a read, reads i:j or i:j:step, or those of numbers; IndexError outside."""
        if isinstance(which, slice):
            first, last, step = which.indices(len(self))
            if step != 1:
                return self._some(np.arange(first, last, step))
            return self._reads(first, max(first, last))
        if isinstance(which, Sequence | np.ndarray):
            return self._some(np.array([self._number(number) for number in which], np.int64))
        number = self._number(which)
        return self._reads(number, number + 1)

    def _number(self, which: SupportsIndex) -> int:
        number, n = index(which), len(self)
        if not -n <= number < n:
            raise IndexError(f"there is no read {number}: {self.path} has {n}")
        return number % n

    def _some(self, numbers: npt.NDArray[np.int64]) -> Reads:
        """Return reads of any numbers, in their order; neighbours are read together."""
        wanted, places = np.unique(numbers, return_inverse=True)
        ends = np.flatnonzero(np.diff(wanted) > NEAR) + 1
        parts: list[Reads] = []
        for run in np.split(wanted, ends) if wanted.size else ():
            first = int(run[0])
            parts.append(_picked(self._reads(first, int(run[-1]) + 1), run - first))
        return _picked(_joined(parts or [self._reads(0, 0)]), places.reshape(-1))

    def __iter__(self) -> Iterator[SingleRead]:
        """Yield all reads one by one."""
        for batch in self.batches():
            yield from batch

    def batches(self, n: int | None = None) -> Iterator[Reads]:
        """Yield all reads, n at a time; by default about 16 million letters, and no pair parted."""
        step = self._batch() if n is None else n
        if step < 1:
            raise BadParams(f"a batch has 1 read or more, got {step}")
        for first in range(0, len(self), step):
            yield self[first : first + step]

    def to_bag(self, n: int | None = None) -> Bag:
        """Return a Dask bag of all reads as `SingleRead`, a partition for n of them, as `batches`.

        Decoding needs no GIL, so `bag.compute(scheduler="threads")` uses all cores of this machine;
        with a Dask client its workers open the store by its path.
        """
        step = self._batch() if n is None else n
        if step < 1:
            raise BadParams(f"a partition has 1 read or more, got {step}")
        firsts = range(0, len(self), step)
        parts = [(first, min(first + step, len(self))) for first in firsts]
        return bag_of(_PartOfStore(self.path), parts or [(0, 0)])

    def _batch(self) -> int:
        """Return how many reads are decoded at once; an even number, where all are pairs."""
        figures = self.contents.figures
        mean = 1.0 if figures is None else max(1.0, figures.mean_length)
        return max(2, min(BATCH_READS, int(BATCH_LETTERS / mean)) // 2 * 2)

    def text(self, first: int, last: int) -> bytes:
        """Return reads first..last - 1 as text: FASTA where they came from it, else FASTQ.

        Raises BadParams where there are no qualities for FASTQ.
        """
        return records_text(self._stored).text(first, last).tobytes()

    def find(self, name: str | bytes) -> list[int]:
        """Return the numbers of reads of a name, or of its first word, ascending.

        Mates have one name where theirs end with /1 and /2. BadParams where there is no index.
        """
        from gangsaw.tasks.reads.index.find import find_name

        return find_name(self._stored, name.encode() if isinstance(name, str) else name)

    def near(self, sequence: str | bytes) -> list[int]:
        """Return the numbers of reads in the bins of a sequence, ascending; pairs are whole.

        A bin has the reads of which a half has the same signature, and some of another one whose
        hash is the same. BadParams where there is no index of bins, or no signature.
        """
        from gangsaw.tasks.reads.index.find import find_bin

        return find_bin(self._stored, sequence.encode() if isinstance(sequence, str) else sequence)

    def _reads(self, first: int, last: int) -> Reads:
        def lines(name: str) -> Ragged | None:
            if name == "name":
                return _ragged(names_of(self._stored, first, last))
            has = self._stored.has(name)
            return _ragged(self._stored.lines(name, first, last)) if has else None

        # side by side: a lone read waits mostly for the three of them
        with ThreadPoolExecutor(3) as pool:
            names, sequences, qualities = pool.map(lines, ("name", "sequence", "quality"))
        assert names is not None
        assert sequences is not None
        return Reads(names, sequences, qualities, first)


@dataclass(frozen=True)
class _PartOfStore:
    """Loads some reads of a store, on a worker."""

    path: str

    def __call__(self, part: tuple[int, int]) -> Reads:
        return open(self.path)[part[0] : part[1]]


def open(path: StoreLike, *, storage_options: Mapping[str, object] | None = None) -> ReadSet:
    """Return the reads of a store; BadParams where it holds none.

    `storage_options` are those of `gangsaw.compress`.
    """
    return ReadSet(as_address(path, storage_options))


def all_mates(reads: ReadSet, other: str = "") -> bool:
    """Whether all reads are in pairs, rather than none.

    Raises BadParams where mates are beside others, which a user may allow as `other` says.
    """
    if reads.contents.is_mixed:
        hint = f", or say {other}" if other else ""
        raise BadParams(
            f"{reads.path} holds mates beside other reads: take its files apart by gangsaw "
            f"decompress{hint}"
        )
    return reads.contents.is_paired


def _picked(reads: Reads, places: npt.NDArray[np.int64]) -> Reads:
    """Return some of these reads."""
    return Reads(
        _lines(reads.names, places),
        _lines(reads.sequences, places),
        None if reads.qualities is None else _lines(reads.qualities, places),
        reads.first + int(places[0] if places.size else 0),
    )


def _lines(lines: Ragged, places: npt.NDArray[np.int64]) -> Ragged:
    return _ragged(Field(lines.data, lines.offsets[places], lines.offsets[places + 1]))


def _joined(parts: Sequence[Reads]) -> Reads:
    """Return the reads of all parts."""
    qualities = [part.qualities for part in parts if part.qualities is not None]
    return Reads(
        _together([part.names for part in parts]),
        _together([part.sequences for part in parts]),
        _together(qualities) if qualities else None,
        parts[0].first,
    )


def _together(several: Sequence[Ragged]) -> Ragged:
    lengths = np.concatenate([lines.lengths for lines in several])
    data = np.concatenate([lines.data for lines in several])
    return Ragged(data, np.concatenate(([0], np.cumsum(lengths))))


def _ragged(field: Field) -> Ragged:
    offsets = np.concatenate(([0], np.cumsum(field.ends - field.begins)))
    data = np.empty(int(offsets[-1]), np.uint8)
    gather_lines(field.text, field.begins, field.ends, offsets, data)
    return Ragged(data, offsets)
