"""Packed arrays of an index as in SPEC.md; the only parser of these bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray, ScalarT
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import CorruptChunk, NewerFormat
from gangsaw.codecs.core.memory.aligned import LINE, aligned_zeros, empty_aligned

Bytes = npt.NDArray[np.uint8]

MAGIC = int.from_bytes(b"GANGSAWI", "little")
VERSION = 1
FIELDS = 16  # words of the header
MAGIC_AT, VERSION_AT, KIND_AT, CRC_AT, SIZE_AT, FIRST_OWN = range(6)
SUMMED = 8 * (CRC_AT + 1)  # first byte covered by the checksum


class Section(NamedTuple):
    """Array of a packed index: number of items and dtype."""

    size: int
    dtype: npt.DTypeLike


@dataclass(frozen=True)
class UnpackedIndex:
    """Packed index as an unpacked header with a valid checksum, and the bytes after it.

    Attributes
    ----------
    kind : number of the kind of index, as in SPEC.md
    fields : header fields of this kind, letters of the text first
    body : (n,) uint8, packed arrays
    """

    kind: int
    fields: tuple[int, ...]
    body: Bytes

    def arrays(self) -> Arrays:
        """Return a sequential reader of the arrays of the body."""
        return Arrays(self.body)


class Arrays:
    """Sequential reader of the arrays of a packed index; copies are aligned to cache lines."""

    def __init__(self, body: Bytes) -> None:
        self._body, self._at = body, 0

    def take(self, size: int, kind: type[ScalarT]) -> npt.NDArray[ScalarT]:
        """Return the next array, of `size` items; raise CorruptChunk if the bytes end in it."""
        n_bytes = size * np.dtype(kind).itemsize
        if pad_to_lines(n_bytes) > self._body.size - self._at:
            raise CorruptChunk("arrays of the index are cut")
        array: npt.NDArray[ScalarT] = empty_aligned(size, kind)
        array.view(np.uint8)[:] = self._body[self._at : self._at + n_bytes]
        self._at += pad_to_lines(n_bytes)
        return array

    def end(self) -> None:
        """Raise CorruptChunk if bytes are left."""
        if self._at != self._body.size:
            raise CorruptChunk("bytes after the arrays of the index")


def pad_to_lines(n_bytes: int) -> int:
    """Return the number of bytes, rounded up to whole cache lines."""
    return n_bytes + -n_bytes % LINE


def count_padded_bytes(sections: Sequence[Section]) -> int:
    """Return the total bytes of arrays, each padded to whole cache lines."""
    return sum(pad_to_lines(size * np.dtype(kind).itemsize) for size, kind in sections)


def pack_index(kind: int, fields: Sequence[int], arrays: Sequence[NumpyArray]) -> Bytes:
    """Pack kind, header fields and arrays of an index into bytes (n,) uint8."""
    size = 8 * FIELDS + sum(pad_to_lines(array.nbytes) for array in arrays)
    out = aligned_zeros(size, np.uint8)
    header = out[: 8 * FIELDS].view("<u8")
    header[:SIZE_AT] = MAGIC, VERSION, kind, 0
    header[SIZE_AT], header[FIRST_OWN : FIRST_OWN + len(fields)] = size, fields
    at = 8 * FIELDS
    for array in arrays:
        out[at : at + array.nbytes] = array.view(np.uint8)
        at += pad_to_lines(array.nbytes)
    header[CRC_AT] = crc32c(out[SUMMED:])
    return out


def unpack_index(data: Bytes) -> UnpackedIndex:
    """Unpack the header of an index in bytes (n,) uint8; bytes after its end are ignored.

    Raises
    ------
    CorruptChunk : the bytes are not an index, cut or damaged
    NewerFormat : their version is unknown
    """
    if data.size < 8 * FIELDS:
        raise CorruptChunk("too short for an index")
    header = data[: 8 * FIELDS].view("<u8")
    size = int(header[SIZE_AT])
    if header[MAGIC_AT] != MAGIC or not 8 * FIELDS <= size <= data.size:
        raise CorruptChunk("no index, or cut")
    if header[VERSION_AT] != VERSION:
        raise NewerFormat(f"an index of version {header[VERSION_AT]}")
    if header[CRC_AT] != crc32c(data[SUMMED:size]):
        raise CorruptChunk("the checksum of the index is wrong")
    fields = tuple(int(field) for field in header[FIRST_OWN:])
    return UnpackedIndex(int(header[KIND_AT]), fields, data[8 * FIELDS : size])
