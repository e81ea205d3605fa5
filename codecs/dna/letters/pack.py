"""Text of bases to two bits a base, and back: loops that LLVM makes vectors of.

Bits 1 and 2 of a letter tell A, C, G and T of either case apart: its code is t ^ (t >> 1) of t =
(c >> 1) & 3. The other bits of A, C and G are 0x41, those of T are 0x50. A table of 256 letters is
slower both ways, and so is a byte at a time: Numba computes with 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gangsaw.codecs.core.numba.jit import jit, jit_inline, jit_restrict

PIECE = 1 << 12  # bases that are tested together
LOWER = 0x2020202020202020
ONES = 0x0101010101010101


@jit_inline
def strangeness(word: Any) -> Any:
    """Return in which bits 8 letters differ from upper case bases."""
    is_t = (word >> np.uint64(2)) & ~(word >> np.uint64(1)) & np.uint64(ONES)
    others = word & np.uint64(0xF9 * ONES)
    return others ^ np.uint64(0x41 * ONES) ^ (is_t | (is_t << np.uint64(4)))


@jit_inline
def packed_word(word: Any) -> Any:
    """Return 8 bases as 16 bits: of the first four the lower byte, the first in its high bits."""
    codes = (word >> np.uint64(1)) & np.uint64(3 * ONES)
    codes ^= (word >> np.uint64(2)) & np.uint64(ONES)
    pairs = (codes << np.uint64(10)) | codes  # in bits 8 to 11 of every 16
    fours = (pairs << np.uint64(20)) | pairs  # in bits 24 to 31 of every 32
    return np.uint16(
        ((fours >> np.uint64(24)) & np.uint64(0xFF)) | (fours >> np.uint64(48)) & np.uint64(0xFF00)
    )


@jit_restrict
def pack_piece(words: Any, out: Any) -> Any:
    """Pack letters, 8 to a word, and return 0 where all are upper case bases.

    words : (n,) uint64; out : (n,) uint16
    """
    strange = np.uint64(0)
    for i in range(out.size):
        strange |= strangeness(words[i])
        out[i] = packed_word(words[i])
    return strange


@jit
def pack_text(words: Any, out: Any, dirty: Any) -> int:
    """Pack letters piece by piece, and list the pieces that hold anything but upper case bases.

    words : (n,) uint64; out : (n,) uint16; dirty : (n_pieces,) int64. Returns how many are listed
    """
    step, n_dirty = PIECE // 8, 0
    for piece in range((words.size + step - 1) // step):
        part = slice(piece * step, min(words.size, (piece + 1) * step))
        if pack_piece(words[part], out[part]) != 0:
            dirty[n_dirty] = piece
            n_dirty += 1
    return n_dirty


@jit_restrict
def unpack_text(packed: Any, out: Any) -> None:
    """Fill letters from packed bases, four to a byte.

    packed : (n,) uint8; out : (n,) uint32
    """
    for i in range(out.size):
        byte = np.uint32(packed[i])
        codes = (byte >> np.uint32(6)) | ((byte << np.uint32(4)) & np.uint32(0x300))
        codes |= (byte << np.uint32(14)) & np.uint32(0x30000)
        codes |= (byte << np.uint32(24)) & np.uint32(0x3000000)
        high = (codes >> np.uint32(1)) & np.uint32(0x01010101)
        is_t = high & codes
        letters = np.uint32(0x41414141) | ((codes | high) << np.uint32(1))  # T as if it were 0x47
        out[i] = letters ^ (is_t | (is_t << np.uint32(1)) | (is_t << np.uint32(4)))
