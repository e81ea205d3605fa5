"""The payload of a block: a head, the body as its form says, and marks. SPEC.md, Block."""

from __future__ import annotations

import struct
from typing import NamedTuple

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.dna import gencodex
from gangsaw.codecs.dna.letters.coding import Letters, join, packed_size, split
from gangsaw.codecs.dna.letters.marks import Marks
from gangsaw.codecs.dna.params import Params

HEAD = struct.Struct("<III")
RAW, PACKED, RUNS = range(3)  # forms
SPARE = 2  # bytes behind packed bases that their last word may fill


class Payload(NamedTuple):
    """The parts of a payload.

    Attributes
    ----------
    form : RAW, PACKED or RUNS
    body : (n,) uint8
    marks : what is no upper case base
    """

    form: int
    body: NumpyArray
    marks: Marks


def most_bytes(n: int) -> int:
    """Bytes that the payload of a block of n bytes takes at most, and what `write` needs more."""
    return HEAD.size + n + SPARE


def write(text: NumpyArray, params: Params, place: NumpyArray) -> int:
    """Write the payload of a text, (n,) uint8, to (most_bytes,) uint8; return its bytes."""
    letters = split(text, place[HEAD.size :])
    if letters is None or not _is_shorter(letters, text.size):
        return _finish(place, RAW, text)
    runs = gencodex.encode(letters.packed) if params.mode == "gencodex" else None
    if runs is not None:
        return _finish(place, RUNS, runs, letters.marks)
    return _finish(place, PACKED, letters.packed, letters.marks)


def _is_shorter(letters: Letters, n: int) -> bool:
    return letters.packed.size + sum(part.size for part in letters.marks) < n


def _finish(place: NumpyArray, form: int, body: NumpyArray, marks: Marks | None = None) -> int:
    """Write a head and the parts that do not lie in their places; return where they end."""
    parts = () if marks is None else tuple(marks)
    sizes = (part.size for part in parts) if parts else (0, 0)
    HEAD.pack_into(place.data, 0, form, *sizes)
    at = HEAD.size
    for part in (body, *parts):
        if form != PACKED or part is not body:  # which was packed there
            place[at : at + part.size] = part
        at += part.size
    return at


def read(data: NumpyArray, text: NumpyArray) -> None:
    """Fill a text, (n,) uint8, from its payload; CorruptChunk where that is not of this extent."""
    payload, n = parts_of(data), packed_size(text.size)
    body = gencodex.decode(payload.body, n) if payload.form == RUNS else payload.body
    check_size(payload.form, body.size, text.size)
    if payload.form == RAW:
        text[...] = body
    else:
        join(Letters(body, payload.marks), text)


def check_size(form: int, size: int, n: int) -> None:
    """Raise CorruptChunk where a body of so many bytes, without runs, has not n letters."""
    if size != (n if form == RAW else packed_size(n)):
        raise CorruptChunk("its bases are not as many as its letters")


def parts_of(data: NumpyArray) -> Payload:
    """Return the parts of a payload; CorruptChunk where its head does not fit its bytes."""
    if data.size < HEAD.size:
        raise CorruptChunk("it has no head")
    form, n_odd, n_low = HEAD.unpack(data[: HEAD.size].tobytes())
    end = data.size - n_odd - n_low
    if form > RUNS or end < HEAD.size or (form == RAW and n_odd + n_low):
        raise CorruptChunk(f"its head says form {form} with {n_odd} and {n_low} bytes of marks")
    marks = Marks(data[end : end + n_odd], data[end + n_odd :])
    return Payload(form, data[HEAD.size : end], marks)
