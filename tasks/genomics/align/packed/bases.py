"""Packed sequences of 2 bits per base, and access to their 4-mers and words from any base on."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.nucleotides.packing import PER_BYTE, packed_codes, unpacked_codes
from gangsaw.codecs.core.numba.bits import load_be64
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.align.sets.pairs import Codes, SequenceSet, Text, sequences_of

PAIRS = 0x5555555555555555  # the lower bit of each base


class PackedBases(NamedTuple):
    """Sequence with four bases per byte.

    Attributes
    ----------
    data : (bases / 4, rounded up) uint8, four bases per byte, the first one in the highest bits; A
        is 0, C 1, G 2, T 3, as in a stored block of mode "pack"
    bases : number of bases
    """

    data: Codes
    bases: int


PackedInput: TypeAlias = PackedBases | Text


def packed_of(sequence: PackedInput, name: str = "sequence") -> PackedBases:
    """Return a sequence as packed bases; bases other than ACGT become A, as in packing.

    Raises
    ------
    BadParams : the argument is neither packed bases nor a string
    """
    if isinstance(sequence, PackedBases):
        return _checked(sequence, name)
    codes = sequences_of([sequence], name).codes
    return PackedBases(packed_codes(codes), codes.size)


def unpack_sequence(packed: PackedBases) -> SequenceSet:
    """Return packed bases as codes."""
    return SequenceSet.from_rows([unpacked_codes(packed.data, packed.bases)])


def _checked(sequence: PackedBases, name: str) -> PackedBases:
    data, bases = np.ascontiguousarray(sequence.data), int(sequence.bases)
    if data.dtype != np.uint8 or data.ndim != 1:
        raise BadParams(f"{name}: packed bases must be a 1-D array of uint8, got {data.dtype}")
    if not 0 <= bases <= PER_BYTE * data.size:
        raise BadParams(f"{name}: {data.size} bytes hold no {bases} bases")
    return PackedBases(data, bases)


@jit(inline=True, part=True, norefs=True)
def four_bases(data: Bytes, base: int) -> int:
    """Return bases base..base + 3 as a byte."""
    at, shift = base >> 2, (base & 3) << 1
    value = int(data[at]) << shift
    if shift:
        value |= int(data[at + 1]) >> (8 - shift)
    return value & 0xFF


@jit(inline=True, part=True, norefs=True)
def word_of_bases(data: Bytes, base: int) -> np.uint64:
    """Return bases base..base + 31 as a uint64, the first in the highest bits."""
    at, shift = base >> 2, np.uint64((base & 3) << 1)
    word: np.uint64 = load_be64(data, at) << shift
    if shift:  # else the ninth byte is not part of them, and may be out of range
        word |= np.uint64(data[at + 8]) >> (np.uint64(8) - shift)
    return word


@jit(inline=True, part=True, norefs=True)
def unequal_bases(differ: np.uint64) -> np.uint64:
    """Return a mask of the unequal bases, in the lower bit of each, from the XOR of two words."""
    return (differ | (differ >> np.uint64(1))) & np.uint64(PAIRS)
