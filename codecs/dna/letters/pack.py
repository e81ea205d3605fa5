"""Packing of bases to two bits each, and back, a vector of letters at a time.

Bits 1 and 2 of a letter distinguish A, C, G and T in either case: its code is t ^ (t >> 1) of t =
(c >> 1) & 3. The same holds for four codes and the four t in one byte. The lower halves of A, C, G
and T differ: a table of 16 gives the base that a letter must be.
"""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.codecs.core.nucleotides.kernels import code_of, is_base
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.core.numba.vectors.byte_lanes import (
    OF_BYTES,
    OF_FOURTH,
    TABLE,
    VECTOR_BYTES,
    join_fours,
    look_up_bytes,
    split_table,
    spread_fours,
)
from gangsaw.codecs.core.numba.vectors.integers import Vector, any_lane, load, spread, store
from gangsaw.codecs.core.numba.vectors.logic import logical_shift_right

PIECE = 1 << 12  # letters that are tested together


def _expected() -> bytes:
    """Build the table of the upper case base with each lower half of a byte, 16 bytes.

    For other halves it has a byte with another lower half.
    """
    found = bytearray([127] * (TABLE - 1) + [0])
    for base in BASES:
        found[base % TABLE] = base
    return bytes(found)


def _of_code() -> bytes:
    """Build the table of base letters by code, with the code in bits 0-1 or 2-3, 16 bytes."""
    found = bytearray(TABLE)
    for code, base in enumerate(BASES):
        found[code] = found[code << 2] = base
    return bytes(found)


_EXPECTED_LOW, _EXPECTED_HIGH = split_table(_expected())
_BASES_LOW, _BASES_HIGH = split_table(_of_code())


@jit(inline=True, part=True, norefs=True)
def expected_bases(text: Vector) -> Any:
    """Return a vector of letters that equals `text` exactly where that is an upper case base."""
    return look_up_bytes(text, _EXPECTED_LOW, _EXPECTED_HIGH)


@jit(inline=True, part=True, norefs=True)
def pack_piece(text: Bytes, begin: int, end: int, packed: Bytes) -> bool:
    """Pack letters text[begin:end] four per byte; return True if all are upper case bases.

    `begin` is a multiple of VECTOR_BYTES. The last byte is padded with zero bits.
    """
    strange, at = spread(0, packed, OF_BYTES), begin
    while at + VECTOR_BYTES <= end:
        letters = load(text, at, OF_BYTES)
        strange = strange | (letters ^ expected_bases(letters))
        bits = join_fours(letters)
        store(packed, at >> 2, bits ^ (logical_shift_right(bits, 1) & 0x55))
        at += VECTOR_BYTES
    are_bases = not (any_lane(strange < 0) or any_lane(strange > 0))
    for first in range(at, end, 4):
        codes = 0
        for i in range(first, first + 4):
            letter = int(text[i]) if i < end else BASES[0]
            codes = codes << 2 | code_of(letter)
            are_bases &= is_base(letter)
        packed[first >> 2] = codes
    return are_bases


@jit(norefs=True)
def unpack_text(packed: Bytes, text: Bytes) -> None:
    """Fill a text from packed bases.

    packed : (ceil(n / 4),) uint8; text : (n,) uint8
    """
    at = 0
    while at + VECTOR_BYTES <= text.size:
        codes = spread_fours(load(packed, at >> 2, OF_FOURTH))
        store(text, at, look_up_bytes(codes, _BASES_LOW, _BASES_HIGH))
        at += VECTOR_BYTES
    for i in range(at, text.size):
        text[i] = BASES[int(packed[i >> 2]) >> (6 - 2 * (i & 3)) & 3]
