"""Decoder of text on a GPU: headers and tables on the host, then a thread for each window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.arrays import Int64s, NumpyArray
from gangsaw.codecs.core.backends.batch import EncodedBlock
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import load_module
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.reads.lines import SPAN
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import (
    STORED,
    BlockLanes,
    check_spans,
    parse_payload,
    read_stored_text,
)
from gangsaw.codecs.reads.windows.gpu_windows import Blocks, WindowsOfBlock


class LookedInto(NamedTuple):
    """Tables of a block that its windows share, in the order of the kernel's `Block` after `Text`.

    See `WindowsOfBlock`.
    """

    numbers: Sequence[int]
    arrays: Sequence[NumpyArray]
    rooms: Sequence[int] = ()
    slices: Int64s = np.empty((0, 2), np.int64)


@dataclass(frozen=True)
class TextDecoder:
    """GPU decoder of a kind of text; an instance is a decoder of `gpu.py`.

    Attributes
    ----------
    package : package that contains the kernel, `decode.cu`
    model_of : function of a coded payload, and True for pairs of mates; returns the shared tables
    window_bytes : bytes of device memory that the kernel needs for each window
    fill_rooms : fills the device buffers `rooms` of blocks; returns True for each valid block
    finish : converts the decoded windows of a payload to its text, in place
    """

    package: str
    model_of: Callable[[BlockLanes, bool], LookedInto]
    window_bytes: int = 0
    fill_rooms: Callable[[Blocks], Sequence[bool]] | None = None
    finish: Callable[[BlockLanes, DeviceArray], None] | None = None

    def __call__(
        self, encoded: Sequence[EncodedBlock], outs: Sequence[DeviceArray], params: Params
    ) -> dict[int, CorruptChunk]:
        """Decode blocks into contiguous (n,) uint8; return errors by block number."""
        errors: dict[int, CorruptChunk] = {}
        payloads: dict[int, BlockLanes] = {}
        coded: dict[int, WindowsOfBlock] = {}

        def prepare(i: int) -> None:
            try:
                payloads[i] = _unpacked(encoded[i], outs[i], params)
                if payloads[i].head.mode != STORED:
                    coded[i] = self._windows_of(payloads[i], outs[i], params)
            except CorruptChunk as error:
                errors[i] = error

        run_blocks(prepare, len(encoded))
        for i in payloads.keys() - errors.keys() - coded.keys():
            errors.update(_fill_stored(i, payloads[i], outs[i]))
        spans = self._launched(coded) if coded else {}
        for i, own in spans.items():
            errors.update(_finished(i, payloads[i], own, outs[i]))
        if self.finish is not None:
            for i in spans.keys() - errors.keys():
                self.finish(payloads[i], outs[i])
        return errors

    def _windows_of(self, payload: BlockLanes, out: DeviceArray, params: Params) -> WindowsOfBlock:
        head, looked = payload.head, self.model_of(payload, params.pairs)
        numbers = head.used, payload.lane, head.is_open, *looked.numbers
        wanted = np.flatnonzero(payload.begins < payload.ends)
        places = payload.begins, payload.ends, wanted
        return WindowsOfBlock(payload.data, *places, out, numbers, *looked[1:])

    def _launched(self, blocks: dict[int, WindowsOfBlock]) -> dict[int, Int64s | None]:
        """Decode the wanted windows of blocks on the device; return their spans, (n, 3) int64 each.

        A span is start, end and number of lines of a window. The result is None for a block whose
        buffers `rooms` cannot be filled: its windows are not decoded.
        """
        on_device = Blocks(list(blocks.values()))
        filled = [True] * len(blocks) if self.fill_rooms is None else self.fill_rooms(on_device)
        windows = on_device.windows()
        windows = windows[np.array(filled)[windows[:, 0]]]
        pairs = zip(blocks.values(), filled, strict=True)
        counts = [is_filled * block.wanted.size for block, is_filled in pairs]
        found = self._spans(on_device, windows) if len(windows) else np.empty((0, SPAN), np.int64)
        parts = np.split(found, np.cumsum(counts)[:-1])
        spans = zip(blocks, parts, filled, strict=True)
        return {i: part if is_filled else None for i, part, is_filled in spans}

    def _spans(self, blocks: Blocks, windows: Int64s) -> Int64s:
        """Decode windows on the device; return start, end and line count of each, (n, 3) int64."""
        spans = cupy().empty((len(windows), SPAN), np.int64)
        own = cupy().empty(max(1, len(windows) * self.window_bytes), np.uint8)
        kernel = load_module(self.package, "decode.cu", {}).get_function("decode_windows")
        blocks.launch(kernel, windows, spans, own)
        found: Int64s = to_host(spans)
        return found


def _unpacked(encoded: EncodedBlock, out: DeviceArray, params: Params) -> BlockLanes:
    lane = params.sizes.lane
    return parse_payload(encoded.data, encoded.lanes, out.shape[0], lane, encoded.there)


def _fill_stored(i: int, payload: BlockLanes, out: DeviceArray) -> dict[int, CorruptChunk]:
    """Decode a stored block; return the error of block i if it is corrupt."""
    text = np.zeros(out.shape[0], np.uint8)
    try:
        read_stored_text(payload, text)
    except CorruptChunk as error:
        return {i: error}
    out.set(text)
    return {}


def _finished(
    i: int, payload: BlockLanes, found: Int64s | None, out: DeviceArray
) -> dict[int, CorruptChunk]:
    """Check a decoded block, and write the zeros at its end; return its error if it is corrupt.

    i : number of the block
    found : spans of its decoded windows; None if its consensus is invalid
    """
    if found is None:
        return {i: CorruptChunk("its consensus is broken")}
    spans = np.zeros((payload.n_windows, SPAN), np.int64)
    spans[payload.begins < payload.ends] = found
    try:
        check_spans(payload, spans)
    except CorruptChunk as error:
        return {i: error}
    out[(slice(payload.head.used, None, None),)] = 0
    return {}
