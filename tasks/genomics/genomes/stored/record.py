"""Sequence records of a genome store: residues by position, as text, codes, words and k-mers."""

from __future__ import annotations

from dataclasses import dataclass
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

UPPER_DNA = np.frombuffer(bytes(range(256)).upper().replace(b"U", b"T"), np.uint8)


class Kmers(NamedTuple):
    r"""K-mers of a record and their positions.

    Parameters
    ----------
    places : (n,) int64
        Positions of the first residue in the record, ascending.
    words : (n,) uint64
        Words with residue i in bits 2i and 2i + 1, as in `Packed`.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.genomes
    >>> size = Path("genome.fa").write_text(">chr1 first\nACGTNACGTTTGCA\nGG\n>chrM\nACGT\n")
    >>> summary = gangsaw.compress("genome.fa", "genome.zarr", format="genome")
    >>> kmers = gangsaw.genomes.open("genome.zarr")["chrM"].kmers(3)
    >>> kmers.places.tolist(), kmers.words.tolist()
    ([0, 1], [36, 57])
    """

    places: Positions
    words: npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class GenomeRecord:
    r"""Sequence record of a genome store; its residues are read on request.

    Positions count from 0, and `end` is exclusive. `record[begin:end]` is text (bytes, as in the
    file). The methods take the same positions, by default the whole record, and raise BadParams for
    positions outside of the record.

    Parameters
    ----------
    name : str
        First word of its header.
    head : str
        Complete header, as in the file, without ">".
    start : int
        Position of its first residue in the array `sequence` of the store.
    length : int
        Number of residues.
    _stored : `StoredGenome`
        Arrays of the store.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.genomes
    >>> size = Path("genome.fa").write_text(">chr1 first\nACGTNACGTTTGCA\nGG\n>chrM\nACGT\n")
    >>> summary = gangsaw.compress("genome.fa", "genome.zarr", format="genome")
    >>> record = gangsaw.genomes.open("genome.zarr")["chr1"]
    >>> record.head, record.length
    ('chr1 first', 16)
    >>> record.reverse_complement(0, 5)
    b'NACGT'
    >>> record.codes(0, 6).tolist()
    [0, 1, 2, 3, 4, 0]
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
                raise BadParams(f"residues are selected without steps, got a step of {step}")
            return self.text(begin, max(begin, end))
        place, n = index(which), self.length
        if not -n <= place < n:
            raise IndexError(f"there is no residue {place}: {self.name} has {n}")
        return self.text(place % n, place % n + 1)

    def letters(self, begin: int = 0, end: int | None = None) -> Text:
        """Return residues in ASCII as in the file.

        Parameters
        ----------
        begin : int, default 0
            Position of the first residue, from 0.
        end : int, optional
            Position after the last residue; None is the end of the record.

        Returns
        -------
        (n,) uint8
            ASCII codes of the residues.

        Raises
        ------
        BadParams
            A position is outside of the record.
        """
        end = self.length if end is None else end
        if not 0 <= begin <= end <= self.length:
            raise BadParams(f"{self.name} has residues 0 to {self.length}, not {begin} to {end}")
        return self._stored.read_residues(self.start + begin, self.start + end)

    def text(self, begin: int = 0, end: int | None = None) -> bytes:
        """Return residues as bytes, as in the file.

        Parameters
        ----------
        begin : int, default 0
            Position of the first residue, from 0.
        end : int, optional
            Position after the last residue; None is the end of the record.

        Returns
        -------
        bytes
            The residues.

        Raises
        ------
        BadParams
            A position is outside of the record.
        """
        return self.letters(begin, end).tobytes()

    def reverse_complement(self, begin: int = 0, end: int | None = None) -> bytes:
        """Return the reverse complement of residues begin..end - 1, with IUPAC codes and case.

        Parameters
        ----------
        begin : int, default 0
            Position of the first residue, from 0.
        end : int, optional
            Position after the last residue; None is the end of the record.

        Returns
        -------
        bytes
            The reverse complement.

        Raises
        ------
        BadParams
            A position is outside of the record.
        """
        return reverse_complement_bases(self.letters(begin, end)).tobytes()

    def codes(self, begin: int = 0, end: int | None = None) -> Text:
        """Return residues as codes.

        Parameters
        ----------
        begin : int, default 0
            Position of the first residue, from 0.
        end : int, optional
            Position after the last residue; None is the end of the record.

        Returns
        -------
        (n,) uint8
            A 0, C 1, G 2, T and U 3 in either case, all others 4.

        Raises
        ------
        BadParams
            A position is outside of the record.
        """
        return CODES[self.letters(begin, end)]

    def packed(self, begin: int = 0, end: int | None = None) -> Packed:
        """Return residues as packed 64-bit words, without case, and a list of other residues.

        U becomes T. Residue i is in bits 2 (i mod 32) and 2 (i mod 32) + 1 of word floor(i / 32),
        see `Packed`.

        Parameters
        ----------
        begin : int, default 0
            Position of the first residue, from 0.
        end : int, optional
            Position after the last residue; None is the end of the record.

        Returns
        -------
        Packed
            The residues as one sequence.

        Raises
        ------
        BadParams
            A position is outside of the record.
        """
        letters = UPPER_DNA[self.letters(begin, end)]
        return Ragged(letters, np.array([0, letters.size])).packed()

    def words(self, begin: int = 0, end: int | None = None, *, device: str = "cpu") -> Array:
        """Return the words of `packed`, on the device for "gpu".

        Parameters
        ----------
        begin : int, default 0
            Position of the first residue, from 0.
        end : int, optional
            Position after the last residue; None is the end of the record.
        device : {"cpu", "gpu"}, default "cpu"
            Memory of the result.

        Returns
        -------
        (ceil(n / 32),) uint64
            Words of 32 residues.

        Raises
        ------
        DeviceError
            There is no device.
        BadParams
            A position is outside of the record, or `device` has another value.
        """
        if device not in ("cpu", "gpu"):
            raise BadParams(f"device must be cpu or gpu, got {device!r}")
        words = self.packed(begin, end).words
        found: Array = cupy().asarray(words) if device == "gpu" else words
        return found

    def kmers(self, k: int, stride: int = 1, begin: int = 0, end: int | None = None) -> Kmers:
        """Return every stride-th k-mer from `begin` on that ends before `end`.

        K-mers with residues other than A, C, G, T or U (in either case) are left out.

        Parameters
        ----------
        k : int
            Residues of a k-mer, 1..32.
        stride : int, default 1
            Step between positions, at least 1.
        begin : int, default 0
            Position of the first residue, from 0.
        end : int, optional
            Position after the last residue; None is the end of the record.

        Returns
        -------
        Kmers
            Positions and words.

        Raises
        ------
        BadParams
            A position is outside of the record, or k or the stride outside its range.
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
