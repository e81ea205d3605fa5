"""Python interface to the reads of a store: by number, as arrays."""

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
from gangsaw.tasks.engine.run.bags import bag_of
from gangsaw.tasks.genomics.reads.export.export import records_text
from gangsaw.tasks.genomics.reads.files.records import Field
from gangsaw.tasks.genomics.reads.stored.record_text import read_names
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.store.objects.stores import StoreLike, as_address
from gangsaw.tasks.store.source import open_zarr

if TYPE_CHECKING:
    import awkward
    import pyarrow
    from dask.bag import Bag

NEAR = 1 << 10  # largest gap between reads that are read together
BATCH_READS = 1 << 16  # reads that are decoded at once; fewer if they are long
BATCH_BASES = 1 << 24


class SingleRead(NamedTuple):
    """Read of a store.

    Attributes
    ----------
    name, sequence : as in its file, without "@"
    quality : quality bytes, usually Phred + 33; None if the store has no qualities
    """

    name: bytes
    sequence: bytes
    quality: bytes | None


@dataclass(frozen=True, eq=False)
class Reads:
    """Some reads of a store, in memory.

    Attributes
    ----------
    names, sequences, qualities : one line per read; None if the store has no qualities, which are
        bytes, usually Phred + 33
    first : number of the first read; for a list of numbers, of the first one in it
    """

    names: Ragged
    sequences: Ragged
    qualities: Ragged | None
    first: int

    def __len__(self) -> int:
        """Return the number of reads."""
        return len(self.sequences)

    def __iter__(self) -> Iterator[SingleRead]:
        """Yield the reads one by one."""
        qualities = [None] * len(self) if self.qualities is None else self.qualities
        yield from map(SingleRead, self.names, self.sequences, qualities)

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table of large strings: name, sequence, and quality if the store has it.

        Raises BadParams for bytes that are not ASCII, or if pyarrow is missing.
        """
        found = {"name": self.names, "sequence": self.sequences, "quality": self.qualities}
        arrays = {name: own.to_arrow() for name, own in found.items() if own is not None}
        return import_module("pyarrow").table(arrays)

    def to_awkward(self) -> awkward.Array:
        """Return an Awkward array of records: name, sequence, and quality if the store has it.

        Raises BadParams if awkward is missing.
        """
        found = {"name": self.names, "sequence": self.sequences, "quality": self.qualities}
        arrays = {name: own.to_awkward() for name, own in found.items() if own is not None}
        return import_module("awkward").zip(arrays, depth_limit=1)


class ReadSet:
    """Reads of a store, loaded on request.

    Attributes
    ----------
    path : path of the store
    contents : description of the reads in the store's attributes
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
        """Return the number of reads."""
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
        """Return a read, a slice of reads, or reads by their numbers; raise IndexError outside."""
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
        """Return reads of any numbers, in their order; close ones are read together."""
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
        """Yield all reads in batches of n; by default about 16 million bases, pairs whole."""
        step = self._batch() if n is None else n
        if step < 1:
            raise BadParams(f"a batch has 1 read or more, got {step}")
        for first in range(0, len(self), step):
            yield self[first : first + step]

    def to_bag(self, n: int | None = None) -> Bag:
        """Return a Dask bag of all reads as `SingleRead`, with n reads per partition.

        By default the partitions are those of `batches`. Decoding releases the GIL, so
        `bag.compute(scheduler="threads")` uses all cores of this machine. With a Dask client, its
        workers open the store by its path.
        """
        step = self._batch() if n is None else n
        if step < 1:
            raise BadParams(f"a partition has 1 read or more, got {step}")
        firsts = range(0, len(self), step)
        parts = [(first, min(first + step, len(self))) for first in firsts]
        return bag_of(_PartOfStore(self.path), parts or [(0, 0)])

    def _batch(self) -> int:
        """Return the default number of reads per batch, an even number."""
        figures = self.contents.figures
        mean = 1.0 if figures is None else max(1.0, figures.mean_length)
        return max(2, min(BATCH_READS, int(BATCH_BASES / mean)) // 2 * 2)

    def text(self, first: int, last: int) -> bytes:
        """Return reads first..last - 1 as text: FASTA if the source was FASTA, else FASTQ.

        Raises BadParams if FASTQ lacks qualities.
        """
        return records_text(self._stored).text(first, last).tobytes()

    def find(self, name: str | bytes) -> list[int]:
        """Return the ascending numbers of reads with this name, or this first word of a name.

        Mates with /1 and /2 share a name. Raises BadParams if the store has no index.
        """
        from gangsaw.tasks.genomics.reads.index.find import find_name

        return find_name(self._stored, name.encode() if isinstance(name, str) else name)

    def near(self, sequence: str | bytes) -> list[int]:
        """Return the ascending numbers of reads in the bins of a sequence, with complete pairs.

        A bin has the reads with the same signature of a half, and some with another signature of
        the same hash. Raises BadParams without an index of bins, or without a signature.
        """
        from gangsaw.tasks.genomics.reads.index.find import find_bin

        return find_bin(self._stored, sequence.encode() if isinstance(sequence, str) else sequence)

    def _reads(self, first: int, last: int) -> Reads:
        def lines(name: str) -> Ragged | None:
            if name == "name":
                return read_names(self._stored, first, last).gathered()
            has = self._stored.has(name)
            return self._stored.lines(name, first, last).gathered() if has else None

        # in parallel: a single read mostly waits for these three
        with ThreadPoolExecutor(3) as pool:
            names, sequences, qualities = pool.map(lines, ("name", "sequence", "quality"))
        assert names is not None
        assert sequences is not None
        return Reads(names, sequences, qualities, first)


@dataclass(frozen=True)
class _PartOfStore:
    """Function that loads a range of a store's reads, on a Dask worker."""

    path: str

    def __call__(self, part: tuple[int, int]) -> Reads:
        return open(self.path)[part[0] : part[1]]


def open(path: StoreLike, *, storage_options: Mapping[str, object] | None = None) -> ReadSet:
    """Return the reads of a store; raise BadParams if it has none.

    `storage_options` are those of `gangsaw.compress`.
    """
    return ReadSet(as_address(path, storage_options))


def all_mates(reads: ReadSet, other: str = "") -> bool:
    """Return True if all reads are in pairs, False if none is.

    Raises BadParams if only some are; `other` is the option that allows it.
    """
    if reads.contents.is_mixed:
        hint = f", or say {other}" if other else ""
        raise BadParams(
            f"{reads.path} holds mates beside other reads: take its files apart by gangsaw "
            f"decompress{hint}"
        )
    return reads.contents.is_paired


def _picked(reads: Reads, indices: npt.NDArray[np.int64]) -> Reads:
    """Return the reads at these indices."""
    return Reads(
        _lines(reads.names, indices),
        _lines(reads.sequences, indices),
        None if reads.qualities is None else _lines(reads.qualities, indices),
        reads.first + int(indices[0] if indices.size else 0),
    )


def _lines(lines: Ragged, indices: npt.NDArray[np.int64]) -> Ragged:
    return Field(lines.data, lines.offsets[indices], lines.offsets[indices + 1]).gathered()


def _joined(parts: Sequence[Reads]) -> Reads:
    """Concatenate reads."""
    qualities = [part.qualities for part in parts if part.qualities is not None]
    return Reads(
        Ragged.concatenate([part.names for part in parts]),
        Ragged.concatenate([part.sequences for part in parts]),
        Ragged.concatenate(qualities) if qualities else None,
        parts[0].first,
    )
