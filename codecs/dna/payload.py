"""The payload of a block: a head, the body as its form says, and marks. SPEC.md, Block."""

from __future__ import annotations

import struct
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import address_of
from gangsaw.codecs.dna import gencodex
from gangsaw.codecs.dna.letters.coding import Letters, join, packed_size, split
from gangsaw.codecs.dna.letters.marks import Marks
from gangsaw.codecs.dna.params import Params

Octets: TypeAlias = npt.NDArray[np.uint8]

HEAD = struct.Struct("<III")
RAW, PACKED, RUNS = range(3)  # forms
NO_MARKS = Marks(*(np.empty(0, np.uint8) for _ in range(2)))


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


def write(text: NumpyArray, params: Params, place: Octets) -> Octets:
    """Return the payload of a text, (n,) uint8.

    place : (`likely_bytes`,) uint8 or more. The payload is at its begin, or, where it is longer, an
        array of its own
    """
    letters = split(text, place[HEAD.size :])
    if letters is None or not _is_shorter(letters, text.size):
        return _laid(Payload(RAW, text, NO_MARKS), place)
    runs = gencodex.encode(letters.packed) if params.mode == "gencodex" else None
    if runs is not None:
        return _laid(Payload(RUNS, runs, letters.marks), place)
    return _laid(Payload(PACKED, letters.packed, letters.marks), place)


def _is_shorter(letters: Letters, n: int) -> bool:
    return letters.packed.size + sum(part.size for part in letters.marks) < n


def _laid(payload: Payload, place: Octets) -> Octets:
    """Return head and parts one behind the other; packed bases may lie in their place already."""
    parts = (payload.body, *payload.marks)
    end, at = HEAD.size + sum(part.size for part in parts), HEAD.size
    data = place[:end] if end <= place.size else np.empty(end, np.uint8)
    HEAD.pack_into(data.data, 0, payload.form, *(part.size for part in payload.marks))
    for part in parts:
        if part.size and address_of(part) != address_of(data) + at:
            data[at : at + part.size] = part
        at += part.size
    return data


def read(data: NumpyArray, text: NumpyArray) -> None:
    """Fill a text, (n,) uint8, from its payload; CorruptChunk where that is not of this extent."""
    payload, n = _parts_of(data), packed_size(text.size)
    body = gencodex.decode(payload.body, n) if payload.form == RUNS else payload.body
    if body.size != (text.size if payload.form == RAW else n):
        raise CorruptChunk("its bases are not as many as its letters")
    if payload.form == RAW:
        text[...] = body
    else:
        join(Letters(body, payload.marks), text)


def _parts_of(data: NumpyArray) -> Payload:
    if data.size < HEAD.size:
        raise CorruptChunk("it has no head")
    form, n_odd, n_low = HEAD.unpack(data[: HEAD.size].tobytes())
    end = data.size - n_odd - n_low
    if form > RUNS or end < HEAD.size or (form == RAW and n_odd + n_low):
        raise CorruptChunk(f"its head says form {form} with {n_odd} and {n_low} bytes of marks")
    marks = Marks(data[end : end + n_odd], data[end + n_odd :])
    return Payload(form, data[HEAD.size : end], marks)
