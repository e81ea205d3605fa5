"""Genomes of a store in Python: records by name, residues by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.compressed_text.text import Positions
from gangsaw.tasks.genomics.genomes.stored.record import GenomeRecord
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.store.objects.stores import StoreLike, as_address
from gangsaw.tasks.store.source import open_zarr

BATCH = 1 << 16  # headers that are read at once
MOST_NEAR = 3  # names that an error suggests
MOST_NAMES = 100_000  # names that are searched for similar ones


class Genome:
    r"""Genome of a store: its records by name, read on request.

    `genome["chr1"][1000:2000]` is text. Iteration yields the records in the order of the file.

    Parameters
    ----------
    path : str
        Path or address of the store; `open` accepts open stores, too.

    Attributes
    ----------
    path : str
        Path of the store.
    info : `GenomeInfo`
        Description of the genome in the store's attributes.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.genomes
    >>> size = Path("genome.fa").write_text(">chr1 first\nACGTNACGTTTGCA\nGG\n>chrM\nACGT\n")
    >>> summary = gangsaw.compress("genome.fa", "genome.zarr", format="genome")
    >>> genome = gangsaw.genomes.open("genome.zarr")
    >>> [record.name for record in genome], genome.lengths.tolist()
    (['chr1', 'chrM'], [16, 4])
    >>> genome["chr1"][2:6]
    b'GTNA'
    """

    def __init__(self, path: str) -> None:
        source = open_zarr(path)
        try:
            self._stored = StoredGenome(source.arrays, source.attrs)
        except BadParams as error:
            raise BadParams(f"{path}: {error}") from error
        self.path, self.info = path, self._stored.info

    def __len__(self) -> int:
        """Return the number of records."""
        return self._stored.n_records

    def __repr__(self) -> str:
        """Return path and number of records."""
        return f"<Genome {self.path}: {len(self):,} records>"

    def __contains__(self, name: object) -> bool:
        """Return True if there is a record of this name."""
        return name in self._numbers

    def __iter__(self) -> Iterator[GenomeRecord]:
        """Yield the records."""
        yield from map(self.record, range(len(self)))

    def __getitem__(self, name: str) -> GenomeRecord:
        """Return the record of a name; raise BadParams, with similar names, if there is none."""
        if name not in self._numbers:
            raise BadParams(f"{self.path} has no record {name!r}{self._near(name)}")
        return self.record(self._numbers[name])

    def record(self, number: int) -> GenomeRecord:
        """Return a record by its number.

        Parameters
        ----------
        number : int
            Number of the record, from 0.

        Returns
        -------
        `GenomeRecord`
            The record.

        Raises
        ------
        IndexError
            There is no such record.
        """
        number = range(len(self))[number]
        head = self.heads[number]
        start, end = self.offsets[number : number + 2].tolist()
        return GenomeRecord(self.names[number], head, start, end - start, self._stored)

    @cached_property
    def heads(self) -> tuple[str, ...]:
        """Complete headers of the records, as in the file."""
        found: list[str] = []
        for first in range(0, len(self), BATCH):
            text, _ = self._stored.heads(first, min(first + BATCH, len(self)))
            found += text.tobytes().decode("utf-8", "surrogateescape").split("\n")[:-1]
        return tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """First words of the headers; in a collection after the sample's name, as "strain/chr1"."""
        return tuple(name.decode("utf-8", "surrogateescape") for name in self._stored.names())

    @cached_property
    def offsets(self) -> Positions:
        """Offsets of the records in the array `sequence`: (n + 1,) int64."""
        return self._stored.starts(0, len(self))

    @property
    def lengths(self) -> Positions:
        """Numbers of residues of the records: (n,) int64."""
        return np.diff(self.offsets)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: i for i, name in reversed(list(enumerate(self.names)))}

    def _near(self, name: str) -> str:
        near = get_close_matches(name, self.names[:MOST_NAMES], MOST_NEAR)
        if near:
            return f"; there is {', '.join(near)}"
        more = f" and {len(self) - MOST_NEAR} more" if len(self) > MOST_NEAR else ""
        return f"; it has {', '.join(self.names[:MOST_NEAR])}{more}"


def open(path: StoreLike, *, storage_options: Mapping[str, object] | None = None) -> Genome:
    r"""Return the genome of a store.

    Parameters
    ----------
    path : path, address or Zarr store
        Store to open.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `gangsaw.compress`.

    Returns
    -------
    Genome
        Records by name, which are read on request.

    Raises
    ------
    BadParams
        The store has no genome.

    See Also
    --------
    append : Add genomes to a collection.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.genomes
    >>> size = Path("genome.fa").write_text(">chr1 first\nACGTNACGTTTGCA\nGG\n>chrM\nACGT\n")
    >>> summary = gangsaw.compress("genome.fa", "genome.zarr", format="genome")
    >>> gangsaw.genomes.open("genome.zarr")["chrM"][1:3]
    b'CG'
    """
    return Genome(as_address(path, storage_options))
