"""Block-adaptive entropy coder (123.0-B-2, 5.4.3.4; 121.0-B with its preprocessor bypassed).

It codes a sequence of mapped residuals in blocks of J residuals. The standard leaves the choice
between options of equal length free. This encoder chooses like the encoders in use: no compression
first, then the second extension, then the smallest k.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from gangsaw.codecs.ccsds123.params import Params
from gangsaw.codecs.core.arrays import Bytes, UInt32s
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.numba.bits import leading_zeros, load_be64, store_be64
from gangsaw.codecs.core.numba.jit import jit

SEGMENT = 64  # blocks in a segment: the longest run of zero blocks
REST_OF_SEGMENT = 4  # unary code of a run that ends with its segment
WORD = 57  # longest bit string that fits a 64-bit word at any bit offset within a byte
PART = 1 << 18  # samples decoded per step: 1 MiB of residuals
Triple: TypeAlias = tuple[int, int, int]  # parameters of `_decode_blocks`
MARGIN = 16  # bytes past the end that 64-bit loads and stores may touch

TRUNCATED, TOO_LARGE, LONG_RUN = -1, -2, -3  # errors, returned instead of an end position
REASONS = {
    TRUNCATED: "the stream ends within a coded block",
    TOO_LARGE: "a mapped residual exceeds the bit depth",
    LONG_RUN: "a run of zero blocks exceeds its segment",
}


def encode_residuals(residuals: UInt32s, bit_depth: int, params: Params) -> tuple[Bytes, int]:
    """Code mapped residuals, which are in coding order.

    Parameters
    ----------
    residuals : (n,) uint32, each below 2^bit_depth

    Returns
    -------
    (n_bytes,) uint8 with zero fill bits, and the number of bits before the fill
    """
    size, width = params.samples_per_block, _identifier_bits(bit_depth, params)
    n_blocks = -(-residuals.size // size)
    padded = np.zeros(n_blocks * size, np.uint32)
    padded[: residuals.size] = residuals
    # The encoder chooses no option that is longer than no compression.
    longest = n_blocks * (width + size * bit_depth)
    out = np.zeros(-(-longest // 8) + MARGIN, np.uint8)
    blocks = padded.reshape(n_blocks, size)
    n_bits = _encode_blocks(blocks, bit_depth, width, params.reference_interval, out)
    return out[: -(-n_bits // 8)], n_bits


def decoded_parts(
    data: Bytes, n_residuals: int, bit_depth: int, params: Params
) -> Iterator[tuple[UInt32s, int]]:
    """Decode n_residuals mapped residuals, part by part, from the start of data, (n_bytes,) uint8.

    Yield the next residuals, (n,) uint32 in a buffer that the next step overwrites, and the number
    of bits read so far. Raise CorruptChunk if the bytes are no output of an encoder.
    """
    size, width = params.samples_per_block, _identifier_bits(bit_depth, params)
    if 8 * data.size < least_bits(n_residuals, bit_depth, params):
        raise CorruptChunk(f"{data.size} bytes cannot hold {n_residuals} samples")
    n_blocks = -(-n_residuals // size)
    padded = np.concatenate([data, np.zeros(MARGIN, np.uint8)])
    out = np.empty((min(n_blocks, PART // size + SEGMENT), size), np.uint32)  # with whole runs
    first, n_bits, coding = 0, 0, (bit_depth, width, params.reference_interval)
    while first < n_blocks:
        blocks = (first, min(first + PART // size, n_blocks), n_blocks)
        last, n_bits = _decode_blocks(padded, n_bits, 8 * data.size, coding, blocks, out)
        if n_bits < 0:
            raise CorruptChunk(REASONS[n_bits])
        yield out.reshape(-1)[: min(last * size, n_residuals) - first * size], n_bits
        first = last


def least_bits(n_residuals: int, bit_depth: int, params: Params) -> int:
    """Return the fewest bits that can code n_residuals: all zero, in the longest runs of blocks."""
    interval = params.reference_interval
    n_blocks = -(-n_residuals // params.samples_per_block)
    intervals, rest = divmod(n_blocks, interval)
    run = _identifier_bits(bit_depth, params) + 1
    return intervals * _least_bits(interval, run) + _least_bits(rest, run)


def _least_bits(n_blocks: int, run: int) -> int:
    segments, rest = divmod(n_blocks, SEGMENT)
    longest = REST_OF_SEGMENT + 1
    return segments * (run + longest) + (run + min(rest, longest) if rest else 0)


def _identifier_bits(bit_depth: int, params: Params) -> int:
    """Return the width of an option's identifier. The identifier of no compression is all ones."""
    if params.restricted:
        return 1 if bit_depth <= 2 else 2
    return 3 if bit_depth <= 8 else 4 if bit_depth <= 16 else 5


# ------------------------------------------------------------------ encoder


@jit
def _put(out: Bytes, position: int, value: int, width: int) -> Any:
    """Write up to WORD bits of a value at a bit position of zeroed bytes; return their end."""
    index = position >> 3
    shift = 64 - (position & 7) - width
    store_be64(out, index, load_be64(out, index) | (np.uint64(value) << np.uint64(shift)))
    return position + width


@jit(part=True)
def _segment_end(block: int, interval: int, n_blocks: int) -> int:
    """Return the end of a block's segment; a run of zero blocks stays within one segment."""
    start = block - block % interval
    segment_end = start + (block - start) // SEGMENT * SEGMENT + SEGMENT
    return min(segment_end, start + interval, n_blocks)


@jit
def _encode_blocks(blocks: UInt32s, depth: int, width: int, interval: int, out: Bytes) -> int:
    n_blocks = blocks.shape[0]
    position = block = 0
    while block < n_blocks:
        end = block
        segment_end = _segment_end(block, interval, n_blocks)
        while end < segment_end and _total(blocks[end]) == 0:
            end += 1
        if end > block:
            position = _put_run(end - block, end == segment_end, width, out, position)
            block = end
        else:
            position = _put_block(blocks[block], depth, width, out, position)
            block += 1
    return position


@jit(part=True)
def _put_run(run: int, reaches_end: bool, width: int, out: Bytes, position: int) -> Any:
    """Write a run of zero blocks: codes 0..3 for 1..4 blocks, REST_OF_SEGMENT, or its length."""
    code = run - 1 if run <= REST_OF_SEGMENT else REST_OF_SEGMENT if reaches_end else run
    return _put(out, position + width + 1 + code, 1, 1)


@jit(part=True)
def _put_block(block: UInt32s, depth: int, width: int, out: Bytes, position: int) -> Any:
    size, total, n_options = block.size, _total(block), (1 << width) - 2
    k = _best_split(block, total, n_options)
    split = _split_bits(block, k) if n_options > 0 else size * depth + 1
    # The code of a pair is at least as long as its sum. So larger totals cannot win, nor overflow.
    extension = _extension_bits(block) if total < size * depth else size * depth + 1
    if size * depth <= min(split, extension):
        return _put_raw(block, depth, width, out, position)
    if extension <= split:
        return _put_extension(block, width, out, position)
    return _put_split(block, k, width, out, position)


@jit
def _total(block: UInt32s) -> Any:
    total = np.uint64(0)
    for value in block:
        total += np.uint64(value)
    return np.int64(total)


@jit(part=True)
def _best_split(block: UInt32s, total: int, n_options: int) -> int:
    """Return the smallest k with the shortest split-sample code of a block of residuals.

    Incrementing k costs one bit per sample and saves ceil(u / 2) bits of each unary part u. So the
    length is convex in k: the best k is the first one whose increment saves no bits.
    """
    k = 0
    while k + 1 < n_options and total > 3 * block.size << k:  # cannot be the last step yet
        k += 1
    while k + 1 < n_options and _saved(block, k) > block.size:
        k += 1
    return k


@jit
def _saved(block: UInt32s, k: int) -> Any:
    saved = np.uint64(0)
    for value in block:
        saved += ((np.uint64(value) >> np.uint64(k)) + np.uint64(1)) >> np.uint64(1)
    return np.int64(saved)


@jit(part=True)
def _split_bits(block: UInt32s, k: int) -> Any:
    bits = np.uint64(block.size * (k + 1))
    for value in block:
        bits += np.uint64(value) >> np.uint64(k)
    return np.int64(bits)


@jit(part=True)
def _extension_bits(block: UInt32s) -> Any:
    bits = 1 + block.size // 2
    for i in range(0, block.size, 2):
        bits += _pair_code(block[i], block[i + 1])
    return bits


@jit(part=True)
def _pair_code(first: int, second: int) -> Any:
    both = np.int64(first) + np.int64(second)
    return both * (both + 1) // 2 + np.int64(second)


@jit(part=True)
def _put_raw(block: UInt32s, depth: int, width: int, out: Bytes, position: int) -> Any:
    position = _put(out, position, (1 << width) - 1, width)
    for value in block:
        position = _put(out, position, value, depth)
    return position


@jit(part=True)
def _put_extension(block: UInt32s, width: int, out: Bytes, position: int) -> Any:
    position = _put(out, position, 1, width + 1)
    for i in range(0, block.size, 2):
        position = _put(out, position + _pair_code(block[i], block[i + 1]), 1, 1)
    return position


@jit(part=True)
def _put_split(block: UInt32s, k: int, width: int, out: Bytes, position: int) -> Any:
    """Write a block with split option k: unary parts (short ones as a word), then remainders."""
    position = _put(out, position, k + 1, width)
    held = length = 0
    for value in block:
        zeros: Any = np.int64(value >> k)
        if length + zeros >= WORD:
            if length > 0:  # a shift by 64 is undefined
                position = _put(out, position, held, length)
            held = length = 0
            if zeros >= WORD:
                position += zeros
                zeros = 0
        held = (held << (zeros + 1)) | 1
        length += zeros + 1
    position = _put(out, position, held, length)
    if k > 0:
        position = _put_remainders(block, k, out, position)
    return position


@jit(part=True)
def _put_remainders(block: UInt32s, k: int, out: Bytes, position: int) -> Any:
    held = length = 0
    for value in block:
        if length + k > WORD:
            position = _put(out, position, held, length)
            held = length = 0
        held = (held << k) | (int(value) & ((1 << k) - 1))
        length += k
    return _put(out, position, held, length)


# ------------------------------------------------------------------ decoder


@jit
def _get(data: Bytes, position: int, width: int) -> Any:
    """Return `width` bits (1..WORD) at a bit position."""
    word = load_be64(data, position >> 3) << np.uint64(position & 7)
    return np.int64(word >> np.uint64(64 - width))


@jit
def _one(data: Bytes, position: int, end: int) -> Any:
    """Return the position of the next one bit, or `end` if there is none before it."""
    while position < end:
        word = load_be64(data, position >> 3) << np.uint64(position & 7)
        if word:
            return min(position + np.int64(leading_zeros(word)), end)
        position += 64 - (position & 7)
    return end


@jit
def _decode_blocks(
    data: Bytes, position: int, end: int, coding: Triple, blocks: Triple, out: UInt32s
) -> tuple[int, int]:
    """Decode blocks of J residuals into out, (n, J) uint32; the last run may add a few blocks.

    `blocks` is (first, end, number of all), `coding` is (bit depth, identifier bits, reference
    interval). Return the block after the decoded ones and the number of bits read, or an error
    code. No position passes `end` by more than MARGIN bytes before it is checked.
    """
    (depth, width, interval), (first, stop, n_blocks) = coding, blocks
    raw, block = (1 << width) - 1, first
    while block < stop:
        if position + width + 1 > end:
            return block, TRUNCATED
        option = _get(data, position, width)
        position += width
        if option == 0 and _get(data, position, 1) == 0:
            segment_end = _segment_end(block, interval, n_blocks)
            last, position = _get_run(data, position + 1, end, block, segment_end)
            if position < 0:
                return block, position
            out[block - first : last - first] = 0
            block = last
            continue
        here = out[block - first]
        if option == raw:
            position = _get_raw(data, position, end, depth, here)
        elif option == 0:
            position = _get_extension(data, position + 1, end, depth, here)
        else:
            position = _get_split(data, position, end, option - 1, depth, here)
        if position < 0:
            return block, position
        block += 1
    return block, position


@jit(part=True)
def _get_run(data: Bytes, position: int, end: int, block: int, segment_end: int) -> tuple[int, int]:
    """Decode a run of zero blocks; return the block after it, and the position after its code."""
    one = _one(data, position, end)
    if one >= end:
        return block, TRUNCATED
    code = one - position
    last = block + (code + 1 if code < REST_OF_SEGMENT else code)
    if code == REST_OF_SEGMENT:
        last = segment_end
    if last > segment_end:
        return block, LONG_RUN
    return last, one + 1


@jit(part=True)
def _get_raw(data: Bytes, position: int, end: int, depth: int, out: UInt32s) -> int:
    if position + out.size * depth > end:
        return TRUNCATED
    for i in range(out.size):
        out[i] = _get(data, position, depth)
        position += depth
    return position


@jit(part=True)
def _get_split(data: Bytes, position: int, end: int, k: int, depth: int, out: UInt32s) -> int:
    highest = (1 << depth) - 1
    for i in range(out.size):
        one = _one(data, position, end)
        if one >= end:
            return TRUNCATED
        if one - position > highest >> k:
            return TOO_LARGE
        out[i] = one - position
        position = one + 1
    if k == 0:
        return position
    if position + out.size * k > end:
        return TRUNCATED
    for i in range(out.size):
        value = (np.int64(out[i]) << k) | _get(data, position, k)
        if value > highest:  # k may exceed the depth
            return TOO_LARGE
        out[i] = value
        position += k
    return position


@jit(part=True)
def _get_extension(data: Bytes, position: int, end: int, depth: int, out: UInt32s) -> int:
    for i in range(0, out.size, 2):
        one = _one(data, position, end)
        if one >= end:
            return TRUNCATED
        code = one - position
        both = _triangular_root(code)
        second = code - both * (both + 1) // 2
        if max(second, both - second) >= 1 << depth:
            return TOO_LARGE
        out[i], out[i + 1] = both - second, second
        position = one + 1
    return position


@jit(part=True)
def _triangular_root(code: int) -> Any:
    """Return the largest n with n (n + 1) / 2 <= code. A rounded root may be off by one."""
    root = np.int64((math.sqrt(8.0 * code + 1.0) - 1.0) / 2.0)
    while root * (root + 1) // 2 > code:
        root -= 1
    while (root + 1) * (root + 2) // 2 <= code:
        root += 1
    return root
