"""Form of integers: how they stand for words, and its bytes in a payload (SPEC.md, "Kind 5")."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.container.runs import Payload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.visibility.arrays import Words

KIND = 5
BITS, QUOTIENT, PALETTE = range(3)
IS_LONG, FORMS = 4, 3  # flag of 64-bit integers in the byte of the form; mask of the form
HEAD = struct.Struct("<BBBqI")  # kind, form, marked words, base, words apart
QUOTIENT_HEAD, COUNT = struct.Struct("<dd"), struct.Struct("<H")
MOST_VALUES = 1 << 10  # values of a palette: 4 KiB of float32
MOST_MARKED = 2  # words with a symbol of their own
LONG, SHORT = 8, 4  # bytes of an integer
# limits that keep sums of predictions, and twice the residuals, within the integers
MOST = {SHORT: 1 << 26, LONG: 1 << 50}
NOT_WHOLE = "its head is not that of a block of integers"


class Form(NamedTuple):
    """Formula or list that turns the integers of a block into floats.

    Attributes
    ----------
    kind : BITS, words without the low bits; QUOTIENT, decimals; PALETTE, indices of values
    itemsize : bytes of an integer
    base : offset added to each integer
    shift : number of low bits, all 0
    factor, divisor : a word is the float of integer * factor / divisor
    values : words of a palette
    """

    kind: int
    itemsize: int
    base: int
    shift: int = 0
    factor: float = 1.0
    divisor: float = 1.0
    values: Words = np.zeros(0, np.uint32)


class OddWords(NamedTuple):
    """Words that no integer represents.

    Attributes
    ----------
    marked : (n,) words, at most MOST_MARKED, with a symbol of their own
    apart : (n,) all other odd words, in the order of the table
    """

    marked: Words
    apart: Words


def write_form(form: Form, odd: OddWords) -> Payload:
    """Return the form and the odd words as bytes, which precede the `dense` head in a payload."""
    kind = form.kind | IS_LONG * (form.itemsize == LONG)
    head = HEAD.pack(KIND, kind, odd.marked.size, form.base, odd.apart.size)
    if form.kind == BITS:
        head += bytes([form.shift])
    elif form.kind == QUOTIENT:
        head += QUOTIENT_HEAD.pack(form.factor, form.divisor)
    else:
        head += COUNT.pack(form.values.size)
    words = (form.values, odd.marked, odd.apart)
    head += b"".join(one.astype(one.dtype.newbyteorder("<")).tobytes() for one in words)
    return np.frombuffer(head, np.uint8)


class _HeadFields:
    """Sequential reader of the fields of a payload."""

    def __init__(self, data: Payload, word_bytes: int) -> None:
        self.data, self.at, self.word_bytes = data, 0, word_bytes

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes; raise CorruptChunk if there are fewer."""
        part = self.data[self.at : self.at + size]
        if part.size < size:
            raise CorruptChunk(f"{self.data.size} bytes are too few for a block of integers")
        self.at += size
        return part.tobytes()

    def words(self, count: int) -> Words:
        """Return the next `count` words; raise CorruptChunk if there are fewer."""
        kind = f"u{self.word_bytes}"
        return np.frombuffer(self.take(count * self.word_bytes), f"<{kind}").astype(kind)


def read_form(data: Payload, word_bytes: int) -> tuple[Form, OddWords, int]:
    """Return form, odd words, and the offset of the `dense` head, which has no kind byte.

    Raises
    ------
    CorruptChunk : the payload has no valid form for words of `word_bytes` bytes
    """
    reader = _HeadFields(data, word_bytes)
    _, kind, n_marked, base, n_apart = HEAD.unpack(reader.take(HEAD.size))
    itemsize = LONG if kind & IS_LONG else SHORT
    legal = kind & FORMS <= PALETTE and kind < 2 * IS_LONG and n_marked <= MOST_MARKED
    legal &= itemsize <= max(word_bytes, SHORT)
    legal &= word_bytes > 2 or kind & FORMS != QUOTIENT
    if not legal:
        raise CorruptChunk(NOT_WHOLE)
    form = _read_kind(reader, Form(kind & FORMS, itemsize, base))
    return form, OddWords(reader.words(n_marked), reader.words(n_apart)), reader.at - 1


def _read_kind(reader: _HeadFields, form: Form) -> Form:
    if form.kind == BITS:
        shift = reader.take(1)[0]
        if shift >= 8 * reader.word_bytes:
            raise CorruptChunk(NOT_WHOLE)
        return form._replace(shift=shift)
    if form.kind == QUOTIENT:
        factor, divisor = QUOTIENT_HEAD.unpack(reader.take(QUOTIENT_HEAD.size))
        if not (0 < factor < np.inf and 0 < divisor < np.inf):
            raise CorruptChunk(NOT_WHOLE)
        return form._replace(factor=factor, divisor=divisor)
    (count,) = COUNT.unpack(reader.take(COUNT.size))
    if not 0 < count <= MOST_VALUES:
        raise CorruptChunk(NOT_WHOLE)
    return form._replace(values=reader.words(count))
