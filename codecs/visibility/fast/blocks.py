"""Kernels that code several blocks of kind `fast` in one call, without the interpreter's lock.

A block is short: with several calls per block, and Python between them, threads would wait for each
other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Int64s, NumpyArray
from gangsaw.codecs.core.container.folding import kernel_crc32c
from gangsaw.codecs.core.numba.bits import bytes_at
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.visibility.fast.plan import FormPlan
from gangsaw.codecs.visibility.fast.tiling.scratch import CallMemory
from gangsaw.codecs.visibility.fast.tiling.tiles import decode_tiles, encode_tiles
from gangsaw.codecs.visibility.lanes.table import LANES, ROWS, gather_words, scatter_words

KIND = 2
WRONG_SUM, OTHER_KIND = 16, 17  # status codes in addition to those of `tiles.check`


class Addresses(NamedTuple):
    """Memory addresses of blocks of one shape: fields of `BlockAddresses`, in bytes."""

    base: int
    offsets: npt.NDArray[np.int64]


class Written(NamedTuple):
    """Output of the encoder: payloads back to back.

    Attributes
    ----------
    out : uint8, large enough for all payloads, see `fast.encode_some`
    ends : (n,) int64, filled with the end offset of each payload
    sums : (n,) uint32, filled with the CRC-32C of each payload if kernels can compute it
    """

    out: npt.NDArray[np.uint8]
    ends: npt.NDArray[np.int64]
    sums: npt.NDArray[np.uint32]


class Payloads(NamedTuple):
    """Input of the decoder: where payloads lie in memory, and their checksums.

    Attributes
    ----------
    base, begins, ends, limit : fields of `RunAddresses`: address and offsets of the payloads, and
        the end of the readable memory
    sums : (n,) uint32, expected CRC-32C of each payload; empty if none is verified
    """

    base: int
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    limit: int
    sums: npt.NDArray[np.uint32]


@jit(norefs=True)
def encode_blocks(
    plan: FormPlan, work: CallMemory, blocks: Addresses, most: int, written: Written
) -> int:
    """Write payloads back to back; return the number of blocks encoded.

    Encoding stops at the first block whose payload is longer than `most`; see `encode_tiles`.

    Parameters
    ----------
    plan, work : `FormPlan` of plan.py, and `CallMemory` of tiling/scratch.py
    blocks, written : `Addresses`, `Written`
    """
    end = 0
    for i in range(blocks.offsets.size):
        _fill(work.table, blocks.base + blocks.offsets[i], plan)
        target = written.out[end:]
        target[0] = KIND
        size = encode_tiles(work.table, plan.extents, work.scratch, most, target)
        if size > most:
            return i
        written.sums[i] = kernel_crc32c(target[:size])
        end += size
        written.ends[i] = end
    return int(blocks.offsets.size)


@jit(inline=True, part=True, norefs=True)
def _fill(table: NumpyArray, place: int, plan: FormPlan) -> None:
    """Copy a block at address `place` to its table of words; padding rows repeat the last row."""
    size = plan.extents.n_rows * LANES
    zeros = -(-plan.extents.n_rows // ROWS) * ROWS * LANES
    gather_words(table[:size], place, plan.memory, plan.is_foreign)
    for i in range(size, zeros):
        table[i] = table[i - LANES]
    for i in range(zeros, zeros + LANES):
        table[i] = 0


@jit(norefs=True)
def decode_blocks(
    plan: FormPlan, work: CallMemory, payloads: Payloads, blocks: Addresses, numbers: Int64s
) -> Any:
    """Decode blocks of one shape up to an invalid one; return their number, and its error or 0.

    Parameters
    ----------
    plan, work : `FormPlan` of plan.py, and `CallMemory` of tiling/scratch.py
    payloads, blocks : `Payloads`, `Addresses`
    numbers : (n,) int64, indices of the blocks to decode
    """
    for filled in range(numbers.size):
        i = numbers[filled]
        begin, end = payloads.begins[i], payloads.ends[i]
        data = bytes_at(payloads.base + begin, end - begin)
        if data.size == 0 or data[0] != KIND:
            return filled, OTHER_KIND
        if payloads.sums.size and kernel_crc32c(data) != payloads.sums[i]:
            return filled, WRONG_SUM
        wrong = decode_tiles(data, payloads.limit - end, plan.extents, work)
        if wrong:
            return filled, wrong
        words, place = work.table[: plan.extents.n_rows * LANES], blocks.base + blocks.offsets[i]
        scatter_words(words, place, plan.memory, plan.is_long, plan.is_foreign)
    return numbers.size, 0
