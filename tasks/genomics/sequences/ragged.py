"""Ragged arrays: lines of different lengths, with conversions to other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.nucleotides.codes import UPPER_CODES
from gangsaw.codecs.core.ragged import RaggedRows, Slice, offsets_of
from gangsaw.tasks.compressed_text.text import Positions, Text
from gangsaw.tasks.genomics.sequences.kernels import pack_bases, unpack_bases

if TYPE_CHECKING:
    from types import ModuleType

    import awkward
    import pyarrow

PER_WORD = 32  # letters per word


class Ragged(RaggedRows[bytes]):
    """Lines of different lengths in one array, such as sequences or names; items are `bytes`.

    Parameters
    ----------
    data : (m,) uint8
        Concatenated bytes of all lines.
    offsets : (n + 1,) int64
        Start of each line, and end of the last one.

    Examples
    --------
    >>> import numpy as np
    >>> from gangsaw.reads import Ragged
    >>> lines = Ragged(np.frombuffer(b"ACGTGG", "uint8"), np.array([0, 4, 6]))
    >>> len(lines), lines[1], lines.lengths.tolist()
    (2, b'GG', [4, 2])
    """

    @overload
    def __getitem__(self, which: int) -> bytes: ...

    @overload
    def __getitem__(self, which: Slice) -> list[bytes]: ...

    def __getitem__(self, which: int | Slice) -> bytes | list[bytes]:
        """Return a line, or a list of lines; raise IndexError for an invalid index."""
        if isinstance(which, slice):
            return [self[i] for i in range(len(self))[which]]
        i = range(len(self))[which]
        return self.data[self.offsets[i] : self.offsets[i + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines."""
        return (self.data[a:b].tobytes() for a, b in pairwise(self.offsets.tolist()))

    def to_arrow(self) -> pyarrow.LargeStringArray:
        """Return the lines as an Arrow array of large strings, without a copy of the bytes.

        Returns
        -------
        pyarrow.LargeStringArray
            A string per line.

        Raises
        ------
        BadParams
            There are bytes other than ASCII, or pyarrow is missing.
        """
        if self.data.max(initial=0) > 127:
            raise BadParams("strings of Arrow are UTF-8, and some bytes are not ASCII")
        arrow = _library("pyarrow")
        buffers = [None, arrow.py_buffer(self.offsets), arrow.py_buffer(self.data)]
        return arrow.LargeStringArray.from_buffers(len(self), *buffers[1:])

    def to_awkward(self) -> awkward.Array:
        """Return the lines as an Awkward array of bytestrings, without a copy of the bytes.

        Returns
        -------
        awkward.Array
            A bytestring per line.

        Raises
        ------
        BadParams
            The package awkward is missing.
        """
        awkward = _library("awkward")
        layouts = awkward.contents
        letters = layouts.NumpyArray(self.data, parameters={"__array__": "byte"})
        offsets, kind = awkward.index.Index64(self.offsets), {"__array__": "bytestring"}
        return awkward.Array(layouts.ListOffsetArray(offsets, letters, parameters=kind))

    def packed(self) -> Packed:
        """Return the bases A, C, G and T packed to two bits each, and a list of other bytes.

        Returns
        -------
        Packed
            The packed lines, without case.
        """
        lengths = self.lengths
        offsets = offsets_of(-(-lengths // PER_WORD))
        words = np.empty(int(offsets[-1]), np.uint64)
        places = np.flatnonzero(UPPER_CODES[self.data] == NOT_A_BASE)
        pack_bases(self.data, self.offsets, offsets, words)
        return Packed(words, offsets, lengths, places, self.data[places])


@dataclass(frozen=True, eq=False)
class Packed:
    """Sequences with two bits per base, in 64-bit words of 32 bases.

    A is 0, C 1, G 2, T 3. Base i of a sequence is bits 2 (i mod 32) and 2 (i mod 32) + 1 of its
    word floor(i / 32), so its first base is in the lowest bits. Each sequence begins a word; unused
    bits of its last word are 0. CuPy can copy these arrays to a device unchanged.

    Parameters
    ----------
    words : (w,) uint64
        Packed bases.
    offsets : (n + 1,) int64
        First word of each sequence, and w.
    lengths : (n,) int64
        Bases of each sequence.
    other_places : (e,) int64
        Positions of residues other than A, C, G or T, ascending, counted over the residues of all
        sequences. Their codes in the words are 0.
    other_letters : (e,) uint8
        These residues, such as N, in ASCII.

    Examples
    --------
    >>> import numpy as np
    >>> from gangsaw.reads import Ragged
    >>> packed = Ragged(np.frombuffer(b"ACGTNG", "uint8"), np.array([0, 4, 6])).packed()
    >>> packed.words.tolist(), packed.other_places.tolist()
    ([228, 8], [4])
    >>> packed.unpacked()[1]
    b'NG'
    """

    words: npt.NDArray[np.uint64]
    offsets: Positions
    lengths: Positions
    other_places: Positions
    other_letters: Text

    def __len__(self) -> int:
        """Return the number of sequences."""
        return self.lengths.size

    def unpacked(self) -> Ragged:
        """Return the sequences as text.

        Returns
        -------
        Ragged
            A line per sequence, in upper case.
        """
        offsets = offsets_of(self.lengths)
        data = np.empty(int(offsets[-1]), np.uint8)
        unpack_bases(self.words, self.offsets, offsets, data)
        data[self.other_places] = self.other_letters
        return Ragged(data, offsets)


def _library(name: str) -> ModuleType:
    """Import an optional library; raise BadParams with the install command if it is missing."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise BadParams(f"{name} is missing: pip install {name}") from error
