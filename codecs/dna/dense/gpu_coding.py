"""Bases to lanes of dense blocks on a GPU, and back; see step.cuh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import launch, load
from gangsaw.codecs.dna.dense import counts, logs
from gangsaw.codecs.dna.dense.coding import Bases, DenseLanes, lanes_of_rows, rows_of_lanes
from gangsaw.codecs.dna.dense.shape import MOST_LANES, WORD, Shape, most_words
from gangsaw.codecs.dna.gpu_parts import Part, gathered

WORD_BYTES = WORD // 8
LOGS = (  # `Logs` of step.cuh
    logs.LOGS,
    logs.POWER,
    counts.DIRECT_LOGS,
    counts.HASHED_LOGS,
    counts.DIRECT_CLASSES,
    counts.HASHED_CLASSES,
)


class Ends(NamedTuple):
    """Lanes that are decoded.

    Attributes
    ----------
    shape : of their block
    body : (n,) uint8, back to back
    ends : (lanes,) int64, words, where each ends; each has two at least
    """

    shape: Shape
    body: Bases
    ends: npt.NDArray[np.int64]


class DeviceBlock(NamedTuple):
    """`Block` of step.cuh, whose shape is followed by arrays on the device."""

    shape: Shape
    codes: DeviceArray
    direct: DeviceArray
    hashed: DeviceArray
    entries: DeviceArray
    slots: DeviceArray
    words: DeviceArray
    begins: DeviceArray
    ends: DeviceArray

    def row(self) -> list[int]:
        """Return it as kernels read it."""
        return [*self.shape, *(array.data.ptr for array in self[1:])]


def encode_blocks(blocks: Sequence[Bases], shapes: Sequence[Shape]) -> list[DenseLanes]:
    """Return the lanes of blocks of bases, (n,) uint8 codes each, n at least 1."""
    cp, work = cupy(), []
    for bases, shape in zip(blocks, shapes, strict=True):
        room = most_words(shape.steps)
        slots = cp.empty(shape.lanes * shape.steps, np.uint32)
        words = cp.empty(shape.lanes * room, np.uint16)
        ends = room * np.arange(1, shape.lanes + 1)
        begins = cp.empty(shape.lanes, np.int64)
        codes = cp.asarray(rows_of_lanes(bases, shape).reshape(-1))
        own = DeviceBlock(shape, codes, *_tables(shape), slots, words, begins, cp.asarray(ends))
        work.append(own)
    _launch("encode.cu", "model_block", work)
    return [_lanes(block) for block in work]


def _lanes(block: DeviceBlock) -> DenseLanes:
    begins, ends = (to_host(part).astype(np.int64) for part in (block.begins, block.ends))
    lengths, first = ends - begins, block.words.data.ptr
    pairs = zip(begins.tolist(), lengths.tolist(), strict=True)
    body = gathered([Part(first + WORD_BYTES * at, WORD_BYTES * n) for at, n in pairs])
    return DenseLanes(body, WORD * lengths)


def decode_blocks(blocks: Sequence[Ends]) -> list[Bases | None]:
    """Return the bases of blocks, (n,) uint8 codes each; None where lanes do not end with them."""
    cp, work = cupy(), []
    nothing = cp.empty(1, np.uint32)
    for shape, body, ends in blocks:
        words = np.frombuffer(body.tobytes(), "<u2").astype(np.uint16)
        begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        codes = cp.zeros(shape.lanes * shape.stride, np.uint8)
        lanes = (cp.asarray(part) for part in (words, begins, ends))
        work.append(DeviceBlock(shape, codes, *_tables(shape), nothing, *lanes))
    wrong: DeviceArray = cp.empty(len(work), np.uint32)
    _launch("decode.cu", "decode_block", work, wrong)
    found = zip(work, to_host(wrong).tolist(), strict=True)
    return [None if is_wrong else _bases(block) for block, is_wrong in found]


def _bases(block: DeviceBlock) -> Bases:
    codes = to_host(block.codes).astype(np.uint8, copy=False)
    return lanes_of_rows(codes.reshape(block.shape.lanes, -1), block.shape)


def _tables(shape: Shape) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return direct and hashed counts and entries of a block, empty."""
    cp = cupy()
    direct, hashed = (cp.zeros(n, np.uint16) for n in (4**shape.order, 1 << shape.slot_bits))
    return direct, hashed, cp.zeros(1 << shape.entry_bits, np.uint32)


def _launch(file: str, name: str, blocks: Sequence[DeviceBlock], *outs: DeviceArray) -> None:
    cp = cupy()
    rows = cp.asarray(np.array([block.row() for block in blocks], np.int64))
    kernel = load(__package__, file, {}).get_function(name)
    launch(kernel, len(blocks), MOST_LANES, (rows, *(cp.asarray(one) for one in LOGS), *outs))
