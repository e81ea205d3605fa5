"""Genomes of a store in Python: records by name, residues by position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from operator import index
from typing import NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Array
from gangsaw.codecs.core.cuda.device import cupy
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.codes import CODES, reverse_complement_bases
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.genomes.stored.stored import StoredGenome
from gangsaw.tasks.genomics.sequences.ragged import PER_WORD, Packed, Ragged
from gangsaw.tasks.store.objects.stores import StoreLike, as_address
from gangsaw.tasks.store.source import open_zarr

UPPER_DNA = np.frombuffer(bytes(range(256)).upper().replace(b"U", b"T"), np.uint8)
BATCH = 1 << 16  # headers that are read at once
MOST_NEAR = 3  # names that an error suggests
MOST_NAMES = 100_000  # names that are searched for similar ones


class Kmers(NamedTuple):
    """K-mers of a record and their positions.

    Attributes
    ----------
    places : (n,) int64, positions of the first residue in the record, ascending
    words : (n,) uint64, residue i in bits 2i and 2i + 1, as in `Packed`
    """

    places: Positions
    words: npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class GenomeRecord:
    """Sequence record of a genome store; its residues are read on request.

    Positions count from 0, and `end` is exclusive. `record[begin:end]` is text (bytes, as in the
    file). The methods take the same positions, by default the whole record, and raise BadParams for
    positions outside of the record.

    Attributes
    ----------
    name : first word of its header
    head : complete header, as in the file, without ">"
    start : position of its first residue in the array `sequence` of the store
    length : number of residues
    """

    name: str
    head: str
    start: int
    length: int
    _stored: StoredGenome

    def __len__(self) -> int:
        """Return the number of residues."""
        return self.length

    def __repr__(self) -> str:
        """Return name and length."""
        return f"<GenomeRecord {self.name}: {self.length:,} residues>"

    def __getitem__(
        self, which: SupportsIndex | slice[int | None, int | None, int | None]
    ) -> bytes:
        """Return residues as text; raise IndexError outside of the record, BadParams for steps."""
        if isinstance(which, slice):
            begin, end, step = which.indices(self.length)
            if step != 1:
                raise BadParams(f"residues are taken without steps, got a step of {step}")
            return self.text(begin, max(begin, end))
        place, n = index(which), self.length
        if not -n <= place < n:
            raise IndexError(f"there is no residue {place}: {self.name} has {n}")
        return self.text(place % n, place % n + 1)

    def letters(self, begin: int = 0, end: int | None = None) -> Text:
        """Return residues as (n,) uint8, in ASCII as in the file."""
        end = self.length if end is None else end
        if not 0 <= begin <= end <= self.length:
            raise BadParams(f"{self.name} has residues 0 to {self.length}, not {begin} to {end}")
        return self._stored.read_residues(self.start + begin, self.start + end)

    def text(self, begin: int = 0, end: int | None = None) -> bytes:
        """Return residues as bytes, as in the file."""
        return self.letters(begin, end).tobytes()

    def reverse_complement(self, begin: int = 0, end: int | None = None) -> bytes:
        """Return the reverse complement of residues begin..end - 1, with IUPAC codes and case."""
        return reverse_complement_bases(self.letters(begin, end)).tobytes()

    def codes(self, begin: int = 0, end: int | None = None) -> Text:
        """Return residues as (n,) uint8: A 0, C 1, G 2, T and U 3 in either case, all others 4."""
        return CODES[self.letters(begin, end)]

    def packed(self, begin: int = 0, end: int | None = None) -> Packed:
        """Return residues as packed 64-bit words, without case, and a list of other residues.

        U becomes T. Residue i is in bits 2 (i mod 32) and 2 (i mod 32) + 1 of word floor(i / 32),
        see `Packed`.
        """
        letters = UPPER_DNA[self.letters(begin, end)]
        return Ragged(letters, np.array([0, letters.size])).packed()

    def words(self, begin: int = 0, end: int | None = None, *, device: str = "cpu") -> Array:
        """Return the words of `packed`, (ceil(n / 32),) uint64; on the device for "gpu".

        Raises DeviceError if there is no device, and BadParams for other values of `device`.
        """
        if device not in ("cpu", "gpu"):
            raise BadParams(f"device must be cpu or gpu, got {device!r}")
        words = self.packed(begin, end).words
        found: Array = cupy().asarray(words) if device == "gpu" else words
        return found

    def kmers(self, k: int, stride: int = 1, begin: int = 0, end: int | None = None) -> Kmers:
        """Return every stride-th k-mer from `begin` on that ends before `end`.

        K-mers with residues other than A, C, G, T or U (in either case) are left out. Raises
        BadParams if k is not in 1..32 or the stride is below 1.
        """
        if not 1 <= k <= PER_WORD or stride < 1:
            raise BadParams(f"k must be 1..{PER_WORD} and stride 1 or more, got {k} and {stride}")
        packed = self.packed(begin, end)
        places = np.arange(0, int(packed.lengths[0]) - k + 1, stride)
        others = packed.other_places
        is_plain = np.searchsorted(others, places) == np.searchsorted(others, places + k)
        places = places[is_plain]
        words, shifts = places // PER_WORD, (2 * (places % PER_WORD)).astype(np.uint64)
        following = np.append(packed.words, np.uint64(0))[words + 1]
        # in two steps: a shift by 64 is undefined
        high = following << np.uint64(1) << (np.uint64(63) - shifts)
        mask = np.uint64((1 << (2 * k)) - 1)
        return Kmers(places + begin, (packed.words[words] >> shifts | high) & mask)


class Genome:
    """Genome of a store: its records by name, read on request.

    `genome["chr1"][1000:2000]` is text. Iteration yields the records in the order of the file.

    Attributes
    ----------
    path : path of the store
    info : description of the genome in the store's attributes
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
        """Return a record by its number, from 0; raise IndexError if there is none."""
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
    """Return the genome of a store; raise BadParams if it has none.

    `storage_options` are those of `gangsaw.compress`.
    """
    return Genome(as_address(path, storage_options))
