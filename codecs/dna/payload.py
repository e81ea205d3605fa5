"""Payload of a block: a head, a body in one of several forms, and marks. SPEC.md, Block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.aligned import address_of
from gangsaw.codecs.core.nucleotides.packing import packed_size
from gangsaw.codecs.core.nucleotides.uracil import URACIL, exchange, has_uracil
from gangsaw.codecs.dna.dense import coding as dense
from gangsaw.codecs.dna.dense.model.shape import Shape, shape_of
from gangsaw.codecs.dna.gencodex import coding as gencodex
from gangsaw.codecs.dna.head import HEAD
from gangsaw.codecs.dna.letters.bases import bases_of, count_bases, join_bases
from gangsaw.codecs.dna.letters.coding import PackedText, join_text, split_text
from gangsaw.codecs.dna.letters.marks import Marks
from gangsaw.codecs.dna.params import Params

RAW, PACKED, RUNS, OLD_DENSE, DENSE = range(5)  # forms; OLD_DENSE is read, not written
OF_LANES = (DENSE, OLD_DENSE)
EXCHANGED = 8  # flag added to a form: T and U are exchanged
WITHOUT = (RAW, OLD_DENSE)  # forms without this flag
LaneBits = npt.NDArray[np.int64]
NO_LANES: LaneBits = np.zeros(1, np.int64)
NO_MARKS = Marks(*(np.empty(0, np.uint8) for _ in range(2)))


class Payload(NamedTuple):
    """Parsed payload of a block: form, body and marks.

    Attributes
    ----------
    form : RAW, PACKED, RUNS, OLD_DENSE or DENSE
    body : (n,) uint8, the coded bases
    marks : runs of letters other than upper case bases
    is_exchanged : True if T and U are exchanged
    """

    form: int
    body: Bytes
    marks: Marks
    is_exchanged: bool = False

    @property
    def stored_form(self) -> int:
        """Form as stored in the head, with the flag of exchanged T and U."""
        return self.form + EXCHANGED * self.is_exchanged


class WrittenPayload(NamedTuple):
    """Encoded payload of a block, with the bits of its lanes.

    Attributes
    ----------
    payload : (n,) uint8
    lane_bits : (lanes,) int64, bits of each lane; a single 0 without lanes
    """

    payload: Bytes
    lane_bits: LaneBits


def write_payload(text: Bytes, params: Params, place: Bytes) -> WrittenPayload:
    """Encode a text, (n,) uint8, to its payload.

    place : (`likely_bytes`,) uint8 or more, output buffer for the payload; a longer payload is in a
        new array
    """
    packed_text, coded = split_text(text, place[HEAD.size :]), text
    if _may_be_rna(packed_text) and has_uracil(text):
        packed_text, coded = None, text.copy()
        exchange(coded)
        packed_text = split_text(coded, place[HEAD.size :])
    if packed_text is not None:
        form, body, lane_bits = _shortest(coded, packed_text, params)
        if body.size + sum(part.size for part in packed_text.marks) < text.size:
            payload = Payload(form, body, packed_text.marks, coded is not text)
            return WrittenPayload(_laid(payload, place), lane_bits)
    return WrittenPayload(_laid(Payload(RAW, text, NO_MARKS), place), NO_LANES)


def _may_be_rna(packed_text: PackedText | None) -> bool:
    """Return True if a text has U among its exceptions, or was not packed."""
    return packed_text is None or bool((packed_text.marks.exceptions == URACIL).any())


def _shortest(text: Bytes, packed_text: PackedText, params: Params) -> tuple[int, Bytes, LaneBits]:
    """Encode the bases in the requested mode; return form, body and lane bits if it is shortest.

    Else the form is PACKED.
    """
    if params.mode == "gencodex":
        runs = gencodex.encode_runs(packed_text.packed)
        if runs is not None:
            return RUNS, runs, NO_LANES
    if params.mode == "dense":
        body, bits = dense.encode_bases(bases_of(text, packed_text.marks))
        if body.size < packed_text.packed.size:
            return DENSE, body, bits
    return PACKED, packed_text.packed, NO_LANES


def _laid(payload: Payload, place: Bytes) -> Bytes:
    """Concatenate head, body and marks in `place`, where the body may be already."""
    parts = (payload.body, *payload.marks)
    end, at = HEAD.size + sum(part.size for part in parts), HEAD.size
    data = place[:end] if end <= place.size else np.empty(end, np.uint8)
    HEAD.pack_into(data.data, 0, payload.stored_form, *(part.size for part in payload.marks))
    for part in parts:
        if part.size and address_of(part) != address_of(data) + at:
            data[at : at + part.size] = part
        at += part.size
    return data


def read_payload(data: Bytes, lane_bits: LaneBits, text: Bytes) -> None:
    """Decode a payload to a text, (n,) uint8; raise CorruptChunk if it has another length.

    lane_bits : (lanes,) int64, bits of each lane, from the index
    """
    payload = parse_payload(data)
    _fill(payload, lane_bits, text)
    if payload.is_exchanged:
        exchange(text)


def _fill(payload: Payload, lane_bits: LaneBits, text: Bytes) -> None:
    """Decode a parsed payload to a text, without undoing the exchange of T and U."""
    if payload.form in OF_LANES:
        n_bases = count_bases(text.size, payload.marks.exceptions)
        shape = dense_shape(payload.form, n_bases)
        join_bases(dense.decode_bases(payload.body, lane_bits, n_bases, shape), payload.marks, text)
        return
    check_lanes(lane_bits)
    n = packed_size(text.size)
    body = gencodex.decode_runs(payload.body, n) if payload.form == RUNS else payload.body
    check_body_size(payload.form, body.size, text.size)
    if payload.form == RAW:
        text[...] = body
    else:
        join_text(PackedText(body, payload.marks), text)


def dense_shape(form: int, n_bases: int) -> Shape:
    """Return the sizes of a dense block of n_bases bases, in form DENSE or OLD_DENSE."""
    return shape_of(max(1, n_bases), enters_first=form == OLD_DENSE)


def check_lanes(lane_bits: LaneBits) -> None:
    """Raise CorruptChunk if the index has lanes for a block that is not dense."""
    if lane_bits.any():
        raise CorruptChunk("it has lanes and is not dense")


def check_body_size(form: int, size: int, n: int) -> None:
    """Raise CorruptChunk if a raw or packed body of `size` bytes does not have n letters."""
    if size != (n if form == RAW else packed_size(n)):
        raise CorruptChunk("the number of its bases differs from its length")


def parse_payload(data: Bytes) -> Payload:
    """Parse the head of a payload; raise CorruptChunk if it does not fit the bytes."""
    if data.size < HEAD.size:
        raise CorruptChunk("it has no head")
    said, n_odd, n_low = HEAD.unpack(data[: HEAD.size].tobytes())
    end, form, is_exchanged = data.size - n_odd - n_low, said & ~EXCHANGED, said & EXCHANGED > 0
    is_wrong = form > DENSE or (is_exchanged and form in WITHOUT)
    if is_wrong or end < HEAD.size or (form == RAW and n_odd + n_low):
        raise CorruptChunk(f"its head says form {said} with {n_odd} and {n_low} bytes of marks")
    marks = Marks(data[end : end + n_odd], data[end + n_odd :])
    return Payload(form, data[HEAD.size : end], marks, is_exchanged)
