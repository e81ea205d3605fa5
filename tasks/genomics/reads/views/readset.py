"""Python interface to the reads of a store: by number, as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.run.bags import bag_of
from gangsaw.tasks.genomics.reads.export.export import records_text
from gangsaw.tasks.genomics.reads.stored.record_text import read_names
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.genomics.reads.views.reads import (
    Reads,
    SingleRead,
    concatenate_reads,
    pick_reads,
)
from gangsaw.tasks.genomics.sequences.ragged import Ragged
from gangsaw.tasks.store.objects.stores import StoreLike, as_address
from gangsaw.tasks.store.source import open_zarr

if TYPE_CHECKING:
    from dask.bag import Bag

NEAR = 1 << 10  # largest gap between reads that are read together
BATCH_READS = 1 << 16  # reads that are decoded at once; fewer if they are long
BATCH_BASES = 1 << 24


class ReadSet:
    r"""Reads of a store, loaded on request.

    Parameters
    ----------
    path : str
        Path or address of the store; `open` accepts open stores, too.

    Attributes
    ----------
    path : str
        Path of the store.
    contents : `ReadsInfo`
        Description of the reads in the store's attributes.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.reads
    >>> text = "@r1\nACGT\n+\nIIII\n@r2\nGGTACC\n+\nIIIIII\n"
    >>> size = Path("reads.fastq").write_text(text)
    >>> summary = gangsaw.compress("reads.fastq", "reads.zarr")
    >>> reads = gangsaw.reads.open("reads.zarr")
    >>> len(reads), reads[1].sequences[0]
    (2, b'GGTACC')
    >>> reads.text(0, 1)
    b'@r1\nACGT\n+\nIIII\n'
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
            parts.append(pick_reads(self._reads(first, int(run[-1]) + 1), run - first))
        return pick_reads(concatenate_reads(parts or [self._reads(0, 0)]), places.reshape(-1))

    def __iter__(self) -> Iterator[SingleRead]:
        """Yield all reads one by one."""
        for batch in self.batches():
            yield from batch

    def batches(self, n: int | None = None) -> Iterator[Reads]:
        """Yield all reads in batches.

        Parameters
        ----------
        n : int, optional
            Reads of a batch. None takes about 16 million bases, pairs whole.

        Yields
        ------
        Reads
            The reads of a batch.

        Raises
        ------
        BadParams
            The number of reads is below 1.
        """
        step = self._batch() if n is None else n
        if step < 1:
            raise BadParams(f"a batch has 1 read or more, got {step}")
        for first in range(0, len(self), step):
            yield self[first : first + step]

    def to_bag(self, n: int | None = None) -> Bag:
        """Return a Dask bag of all reads as `SingleRead`.

        Decoding releases the GIL, so `bag.compute(scheduler="threads")` uses all cores of this
        machine. With a Dask client, its workers open the store by its path.

        Parameters
        ----------
        n : int, optional
            Reads of a partition. None takes those of `batches`.

        Returns
        -------
        dask.bag.Bag
            The reads.

        Raises
        ------
        BadParams
            The number of reads is below 1.
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

        Parameters
        ----------
        first : int
            Number of the first read.
        last : int
            Number after the last read.

        Returns
        -------
        bytes
            The text.

        Raises
        ------
        BadParams
            FASTQ lacks qualities.
        """
        return records_text(self._stored).text(first, last).tobytes()

    def find(self, name: str | bytes) -> list[int]:
        """Return the numbers of reads with this name, or this first word of a name.

        Mates with /1 and /2 share a name.

        Parameters
        ----------
        name : str or bytes
            Name of the reads.

        Returns
        -------
        list of int
            Ascending numbers.

        Raises
        ------
        BadParams
            The store has no index of names.

        See Also
        --------
        add_index : Add an index.
        """
        from gangsaw.tasks.genomics.reads.index.find import find_name

        return find_name(self._stored, name.encode() if isinstance(name, str) else name)

    def near(self, sequence: str | bytes) -> list[int]:
        """Return the numbers of reads in the bins of a sequence, with complete pairs.

        A bin has the reads with the same signature of a half, and some with another signature of
        the same hash.

        Parameters
        ----------
        sequence : str or bytes
            Bases.

        Returns
        -------
        list of int
            Ascending numbers.

        Raises
        ------
        BadParams
            The store has no index of bins, or the sequence no signature.

        See Also
        --------
        add_index : Add an index.
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
    r"""Return the reads of a store.

    Parameters
    ----------
    path : path, address or Zarr store
        Store to open.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `gangsaw.compress`.

    Returns
    -------
    `ReadSet`
        The reads, loaded on request.

    Raises
    ------
    BadParams
        The store has no reads.

    See Also
    --------
    add_index : Add an index of names or bins.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.reads
    >>> text = "@r1\nACGT\n+\nIIII\n@r2\nGGTACC\n+\nIIIIII\n"
    >>> size = Path("reads.fastq").write_text(text)
    >>> summary = gangsaw.compress("reads.fastq", "reads.zarr")
    >>> gangsaw.reads.open("reads.zarr")[0].sequences[0]
    b'ACGT'
    """
    return ReadSet(as_address(path, storage_options))


def all_mates(reads: ReadSet, other: str = "") -> bool:
    """Return True if all reads are in pairs, False if none is.

    Raises BadParams if only some are; `other` is the option that allows it.
    """
    if reads.contents.is_mixed:
        hint = f", or use {other}" if other else ""
        raise BadParams(
            f"{reads.path} holds mates and other reads: separate its files by gangsaw "
            f"decompress{hint}"
        )
    return reads.contents.is_paired
