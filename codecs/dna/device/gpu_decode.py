"""GPU decoder of blocks: heads on the host, all else on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import EncodedBlock
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.upload import Upload
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.nucleotides.packing import packed_size
from gangsaw.codecs.core.nucleotides.uracil import exchange
from gangsaw.codecs.dna.dense.coding import lane_ends
from gangsaw.codecs.dna.dense.gpu_coding import LaneWords, new_codes
from gangsaw.codecs.dna.dense.gpu_coding import decode_blocks as dense_decode
from gangsaw.codecs.dna.dense.model.shape import Shape
from gangsaw.codecs.dna.gencodex import gpu_coding as gencodex
from gangsaw.codecs.dna.gpu_parts import DevicePart, DeviceParts, aligned_offsets
from gangsaw.codecs.dna.letters.bases import count_bases
from gangsaw.codecs.dna.letters.gpu_join import EncodedText, join_text
from gangsaw.codecs.dna.params import Params
from gangsaw.codecs.dna.payload import (
    NO_LANES,
    OF_LANES,
    RUNS,
    LaneBits,
    Payload,
    check_body_size,
    check_lanes,
    dense_shape,
    parse_payload,
)


class Block(NamedTuple):
    """Block to decode on the GPU.

    Attributes
    ----------
    payload : parsed payload
    out : (n,) uint8 in device memory, aligned, to fill with text
    shape : sizes of the block, if it is dense and has bases
    ends : (lanes,) int64, end offset of each lane, in words
    """

    payload: Payload
    out: DeviceArray
    shape: Shape | None = None
    ends: LaneBits = NO_LANES


def decode_blocks(
    encoded: Sequence[EncodedBlock], outs: Sequence[DeviceArray], params: Params
) -> dict[int, CorruptChunk]:
    """Decode payloads to aligned (n,) uint8 on the GPU; return errors of invalid ones by index."""
    blocks: dict[int, Block] = {}
    errors: dict[int, CorruptChunk] = {}
    for i, (own, out) in enumerate(zip(encoded, outs, strict=True)):
        try:
            bits = NO_LANES if own.lane_bits is None else own.lane_bits
            blocks[i] = _checked(parse_payload(own.data), bits, out)
        except CorruptChunk as error:
            errors[i] = error
    if blocks:
        found = zip(blocks, _DecodeWork(list(blocks.values())).decoded(), strict=True)
        errors |= {i: CorruptChunk(reason) for i, reason in found if reason}
    return errors


def _checked(payload: Payload, bits: LaneBits, out: DeviceArray) -> Block:
    n = out.shape[0]
    if payload.form in OF_LANES:
        n_bases = count_bases(n, payload.marks.exceptions)
        shape = dense_shape(payload.form, n_bases)
        ends = lane_ends(payload.body, bits, n_bases, shape)
        return Block(payload, out, shape if n_bases else None, ends)
    check_lanes(bits)
    if payload.form != RUNS:
        check_body_size(payload.form, payload.body.size, n)
    return Block(payload, out)


class _DecodeWork:
    """Blocks to decode together in device memory; keep the object until the device is done."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks, self._upload = blocks, Upload()
        places = [[self._upload.add(part) for part in _arrays(one.payload)] for one in blocks]
        self._data = self._upload.sent()
        first = self._data.data.ptr
        known = zip(blocks, places, strict=True)
        self._parts = [_parts(one.payload, first, own) for one, own in known]
        sizes = [packed_size(one.out.shape[0]) * (one.payload.form == RUNS) for one in blocks]
        starts = aligned_offsets(sizes)
        self._packed: DeviceArray = cupy().empty(max(1, starts[-1]), np.uint8)
        first = self._packed.data.ptr
        self._bodies = [
            DevicePart(first + start, size) if own.form == RUNS else own.body
            for own, start, size in zip(self._parts, starts, sizes, strict=False)
        ]
        self._codes = {i: new_codes(one.shape) for i, one in enumerate(blocks) if one.shape}

    def decoded(self) -> list[str]:
        """Decode all blocks to text; return an error message for each, "" for valid ones."""
        numbers = [i for i, own in enumerate(self._parts) if own.form == RUNS]
        runs = [self._parts[i].body for i in numbers]
        broken = gencodex.decode_runs(numbers, runs, self._bodies)
        held = self._fill_codes(broken) if self._codes else None
        wrong, runs_held = join_text([self._encoded(i) for i in range(len(self._blocks))], broken)
        pairs = zip(to_host(broken).tolist(), to_host(wrong).tolist(), strict=True)
        del held, runs_held  # device addresses in tables: the device was not done before
        for block in self._blocks:
            if block.payload.is_exchanged:
                exchange(block.out, max(1, block.out.shape[0]))
        return [
            "its body does not fill it"
            if no_bases
            else "its marks are not such"
            if no_marks
            else ""
            for no_bases, no_marks in pairs
        ]

    def _fill_codes(self, broken: DeviceArray) -> object:
        words = []
        for i in self._codes:
            ends = self._blocks[i].ends
            words.append(LaneWords(self._parts[i].body.address, np.insert(ends[:-1], 0, 0), ends))
        shapes = [one.shape for one in self._blocks if one.shape]
        return dense_decode([*self._codes], shapes, words, list(self._codes.values()), broken)

    def _encoded(self, i: int) -> EncodedText:
        own, block = self._parts[i], self._blocks[i]
        if block.shape is None:
            return EncodedText(block.out, self._bodies[i].address, own.form, *own[2:])
        rows = block.shape.steps, block.shape.stride
        return EncodedText(block.out, self._codes[i].data.ptr, own.form, *own[2:], rows)


def _arrays(payload: Payload) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    return payload.body, payload.marks.exceptions, payload.marks.cases


def _parts(payload: Payload, address: int, offsets: Sequence[int]) -> DeviceParts:
    """Return the parts of a payload as ranges of device memory.

    address : device address of the upload
    offsets : offset of each part in the upload
    """
    arrays = zip(_arrays(payload), offsets, strict=True)
    body, odd, low = (DevicePart(address + place, part.size) for part, place in arrays)
    return DeviceParts(payload.form, body, odd, low)
