"""GPU coder of bases to lanes of dense blocks, and back; see step.cuh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load_module
from gangsaw.codecs.dna.dense.coding import LaneBits
from gangsaw.codecs.dna.dense.model import counts, logs
from gangsaw.codecs.dna.dense.model.shape import WORD, Shape, most_words
from gangsaw.codecs.dna.gpu_parts import DevicePart, gather_parts

WARP = 32
WORD_BYTES = WORD // 8
LOGS = (  # `Logs` of step.cuh
    logs.LOGS,
    logs.POWER,
    counts.DIRECT_LOGS,
    counts.HASHED_LOGS,
    counts.DIRECT_CLASSES,
    counts.HASHED_CLASSES,
)


class LaneWords(NamedTuple):
    """rANS words of the lanes of a block to decode, in device memory.

    Attributes
    ----------
    address : device address of the first word
    begins, ends : (lanes,) int64, start and end offset of each lane, in words
    """

    address: int
    begins: LaneBits
    ends: LaneBits


class DeviceLanes(NamedTuple):
    """Encoded lanes of a block in device memory.

    Attributes
    ----------
    body : device memory of the concatenated lanes
    bits : (lanes,) int64, bits of each lane
    """

    body: DevicePart
    bits: LaneBits


def new_codes(shape: Shape) -> DeviceArray:
    """Return a zeroed device buffer for the base codes of a block, (lanes * stride,) uint8."""
    codes: DeviceArray = cupy().zeros(shape.lanes * shape.stride, np.uint8)
    return codes


def encode_blocks(
    shapes: Sequence[Shape], codes: Sequence[DeviceArray]
) -> tuple[list[DeviceLanes], tuple[DeviceArray, object]]:
    """Encode the bases of blocks on the GPU; return their lanes, and objects that own the memory.

    Keep these objects until the lanes are copied. The first one contains the lanes.
    """
    work = [_DeviceBlock(*one) for one in zip(shapes, codes, strict=True)]
    _launch("encode.cu", "model_block", shapes, [block.row() for block in work])
    lanes = [block.lanes() for block in work]
    memory = gather_parts([part for parts in lanes for part in parts])
    found, at = [], memory.data.ptr
    for parts in lanes:
        sizes = np.array([part.size for part in parts], np.int64)
        found.append(DeviceLanes(DevicePart(at, int(sizes.sum())), 8 * sizes))
        at += found[-1].body.size
    return found, (memory, work)


class _DeviceTables:
    """Model tables of a block in device memory, initially 0."""

    def __init__(self, shape: Shape) -> None:
        cp = cupy()
        self._shape = shape
        self._tables = (
            cp.zeros(4**shape.order, np.uint16),
            cp.zeros(1 << shape.slot_bits, np.uint16),
            cp.zeros(1 << shape.entry_bits, np.uint32),
        )

    def row_of(self, codes: DeviceArray, *others: int) -> list[int]:
        """Return struct `Block` of step.cuh as integers.

        others : device addresses of the remaining fields
        """
        tables = (table.data.ptr for table in self._tables)
        return [*self._shape, codes.data.ptr, *tables, *others]


class _DeviceBlock(_DeviceTables):
    """Device buffers of one block to encode: model tables, recorded slots, words and lane ends."""

    def __init__(self, shape: Shape, codes: DeviceArray) -> None:
        super().__init__(shape)
        cp, room = cupy(), most_words(shape.steps)
        self._codes, self._host_ends = codes, room * np.arange(1, shape.lanes + 1)
        self._slots = cp.empty(shape.lanes * shape.steps, np.uint32)
        self._words = cp.empty(shape.lanes * room, np.uint16)
        self._begins = cp.empty(shape.lanes, np.int64)
        self._ends = cp.asarray(self._host_ends)

    def row(self) -> list[int]:
        """Return struct `Block` of step.cuh as integers."""
        others = self._slots, self._words, self._begins, self._ends
        return self.row_of(self._codes, *(array.data.ptr for array in others), 0)

    def lanes(self) -> list[DevicePart]:
        """Return device address and size of each encoded lane."""
        begins = to_host(self._begins).tolist()
        first, pairs = self._words.data.ptr, zip(begins, self._host_ends.tolist(), strict=True)
        return [DevicePart(first + WORD_BYTES * a, WORD_BYTES * (b - a)) for a, b in pairs]


def decode_blocks(
    numbers: Sequence[int],
    shapes: Sequence[Shape],
    lanes: Sequence[LaneWords],
    codes: Sequence[DeviceArray],
    broken: DeviceArray,
) -> object:
    """Decode blocks of bases on the GPU; set broken[number] if a block's lanes are invalid.

    Keep the returned object until the device is done.

    numbers : index of each block in `broken`
    """
    cp, rows, held = cupy(), [], []
    for number, shape, words, own in zip(numbers, shapes, lanes, codes, strict=True):
        tables, bounds = _DeviceTables(shape), cp.asarray(np.stack([words.begins, words.ends]))
        begins, ends = bounds.data.ptr, bounds.data.ptr + words.begins.nbytes
        rows.append(tables.row_of(own, 0, words.address, begins, ends, number))
        held.append((tables, bounds))
    _launch("decode.cu", "decode_block", shapes, rows, broken)
    return held


def _launch(
    file: str,
    name: str,
    shapes: Sequence[Shape],
    rows: Sequence[Sequence[int]],
    *outs: DeviceArray,
) -> None:
    cp = cupy()
    threads = -(-max(shape.lanes for shape in shapes) // WARP) * WARP
    arguments = cp.asarray(np.array(rows, np.int64)), *(cp.asarray(one) for one in LOGS), *outs
    kernel = load_module(__package__, file, {}).get_function(name)
    launch(kernel, len(rows), threads, arguments)
