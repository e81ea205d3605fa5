"""Decoder of blocks on a GPU: heads on the host, all else on the device."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.runs import Payload as Bytes
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.upload import Upload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.dna import gpu_gencodex
from gangsaw.codecs.dna.gpu_parts import Part, Parts, rooms
from gangsaw.codecs.dna.letters.coding import packed_size
from gangsaw.codecs.dna.letters.gpu_join import Encoded, join
from gangsaw.codecs.dna.payload import RAW, RUNS, Payload, check_size, parts_of


def decode_blocks(data: Sequence[Bytes], outs: Sequence[DeviceArray]) -> dict[int, CorruptChunk]:
    """Fill aligned (n,) uint8 from payloads; return the errors of those that are wrong."""
    payloads: dict[int, Payload] = {}
    errors: dict[int, CorruptChunk] = {}
    for i, (own, out) in enumerate(zip(data, outs, strict=True)):
        try:
            payloads[i] = _checked(own, out.shape[0])
        except CorruptChunk as error:
            errors[i] = error
    if payloads:
        wrong = _joined(list(payloads.values()), [outs[i] for i in payloads])
        found = zip(payloads, wrong, strict=True)
        errors |= {i: CorruptChunk(reason) for i, reason in found if reason}
    return errors


def _checked(data: Bytes, n: int) -> Payload:
    payload = parts_of(data)
    if payload.form != RUNS:
        check_size(payload.form, payload.body.size, n)
    return payload


def _joined(payloads: Sequence[Payload], outs: Sequence[DeviceArray]) -> list[str]:
    """Fill texts; return what is wrong with each, or nothing."""
    upload = Upload()
    places = [[upload.add(part) for part in _arrays(payload)] for payload in payloads]
    data = upload.sent()
    parts = [
        _parts(payload, data.data.ptr, own) for payload, own in zip(payloads, places, strict=True)
    ]
    sizes = [packed_size(out.shape[0]) for out in outs]
    starts = rooms([size * (one.form == RUNS) for one, size in zip(parts, sizes, strict=True)])
    memory = cupy().empty(max(1, starts[-1]), np.uint8)
    packed = [
        Part(memory.data.ptr + start, size) if one.form == RUNS else one.body
        for one, start, size in zip(parts, starts, sizes, strict=False)
    ]
    numbers = [i for i, one in enumerate(parts) if one.form == RUNS]
    broken = gpu_gencodex.decode(numbers, [parts[i].body for i in numbers], packed)
    blocks = [
        Encoded(out, body.address, one.form == RAW, one.exceptions, one.cases)
        for out, body, one in zip(outs, packed, parts, strict=True)
    ]
    wrong = join(blocks, broken)
    pairs = zip(to_host(broken).tolist(), to_host(wrong).tolist(), strict=True)
    return [
        "its runs do not fill it" if no_bases else "its marks are not such" if no_marks else ""
        for no_bases, no_marks in pairs
    ]


def _arrays(payload: Payload) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    return payload.body, payload.marks.exceptions, payload.marks.cases


def _parts(payload: Payload, address: int, places: Sequence[int]) -> Parts:
    """Return where the parts of a payload lie on the device; address : of what was sent."""
    arrays = zip(_arrays(payload), places, strict=True)
    body, odd, low = (Part(address + place, part.size) for part, place in arrays)
    return Parts(payload.form, body, odd, low)
