"""A block of text as packed bases and marks, and back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.dna.letters import marks, pack
from gangsaw.codecs.dna.letters.marks import MOST_RECORD, NOTHING, Marks

FILLER = ord("A")  # behind the last letter: code 0
WORD = 8  # letters

NONE = np.empty(0, np.uint8)


class Letters(NamedTuple):
    """What a text says.

    Attributes
    ----------
    packed : (ceil(n / 4),) uint8, four bases a byte
    marks : what is no upper case base
    """

    packed: NumpyArray
    marks: Marks


def packed_size(n: int) -> int:
    """Bytes of n packed bases."""
    return -(-n // 4)


def split(text: NumpyArray, room: NumpyArray) -> Letters | None:
    """Return packed bases and marks of a text; None where marks take more bytes than the text.

    text : (n,) uint8, contiguous; room : (n / 4 + 2,) uint8 or more, which packed bases fill
    """
    n_words, n_packed = text.size // WORD, packed_size(text.size)
    dirty = np.empty(-(-text.size // pack.PIECE), np.int64)
    body = _words(text[: n_words * WORD])
    pairs = room[: 2 * n_words].view(np.uint16)
    n_dirty = int(pack.pack_text(body, pairs, dirty))
    if n_words * WORD < text.size:
        n_dirty = _pack_end(text, room, dirty, n_dirty)
    packed = room[:n_packed]
    if not n_dirty:
        return Letters(packed, Marks(NONE, NONE))
    exceptions, cases = (np.empty(text.size + MOST_RECORD, np.uint8) for _ in range(2))
    n_odd, n_low = marks.find_marks(text, dirty[:n_dirty], room, exceptions, cases)
    if n_odd == NOTHING:
        return None
    return Letters(packed, Marks(exceptions[:n_odd], cases[:n_low]))


def _words(text: NumpyArray) -> NumpyArray:
    """Return text as words of 8 letters, copied where it does not lie as words do."""
    is_aligned = text.ctypes.data % WORD == 0
    return (text if is_aligned else text.copy()).view(np.uint64)


def _pack_end(text: NumpyArray, room: NumpyArray, dirty: NumpyArray, n_dirty: int) -> int:
    """Pack the letters behind the last whole word; return how many pieces are listed then."""
    at = text.size // WORD * WORD
    letters, pair = np.full(WORD, FILLER, np.uint8), np.empty(1, np.uint16)
    letters[: text.size - at] = text[at:]
    is_clean = pack.pack_piece(letters.view(np.uint64), pair) == 0
    room[at // 4 : at // 4 + 2] = pair.view(np.uint8)
    piece = at // pack.PIECE
    if is_clean or (n_dirty and dirty[n_dirty - 1] == piece):
        return n_dirty
    dirty[n_dirty] = piece
    return n_dirty + 1


def join(letters: Letters, out: NumpyArray) -> None:
    """Fill a text, (n,) uint8; CorruptChunk for marks that no encoder writes."""
    n = out.size // 4 * 4
    target = out[:n] if out.ctypes.data % 4 == 0 else np.empty(n, np.uint8)
    pack.unpack_text(letters.packed, target.view(np.uint32))
    if target.base is not out.base and n:
        out[:n] = target
    if n < out.size:
        end = np.empty(1, np.uint32)
        pack.unpack_text(letters.packed[n // 4 :], end)
        out[n:] = end.view(np.uint8)[: out.size - n]
    marks.put_marks(letters.marks, out)
