"""Several blocks of kind "fast" in one call: threads do not meet at the interpreter's lock.

A block takes 0.1 ms. With three calls for each, and Python between them, two threads waited for
each other a sixth of their time.
"""

from __future__ import annotations

from typing import Any

from gangsaw.codecs.core.container.folding import kernel_crc32c
from gangsaw.codecs.core.numba.bits import octets_at
from gangsaw.codecs.core.numba.jit import jit_bare, jit_bare_inline
from gangsaw.codecs.visibility.fast.planes import ROWS
from gangsaw.codecs.visibility.fast.tiles import decode_tiles, encode_tiles
from gangsaw.codecs.visibility.lanes.table import LANES, gather_words, scatter_words

KIND = 2
WRONG_SUM, OTHER_KIND = 16, 17  # beside what `fast_tiles.check` finds


@jit_bare
def encode_blocks(
    base: int, offsets: Any, memory: Any, is_foreign: bool, extents: Any, most: int, words: Any,
    scratch: Any, out: Any, ends: Any, sums: Any,
) -> int:  # fmt: skip
    """Write payloads back to back; return how many blocks were encoded.

    It stops at the first one that gets longer than `most`; see `encode_tiles`.

    Parameters
    ----------
    base, offsets : where blocks lie that are alike, as in `Places`
    memory, extents, scratch : as in `fast.Plan`, and as `fast._scratch` makes it
    words : of a table, with rows that fill up the last tile, and one of zeros
    out : uint8 with room for all, as `fast.encode_some` asks for
    ends : (n,) int64, set to where each payload ends
    sums : (n,) uint32, set to the CRC-32C of each where kernels can
    """
    end = 0
    for i in range(offsets.size):
        _fill(words, base + offsets[i], memory, is_foreign, extents)
        target = out[end:]
        target[0] = KIND
        size = encode_tiles(words, extents, scratch, most, target)
        if size > most:
            return i
        sums[i] = kernel_crc32c(target[:size])
        end += size
        ends[i] = end
    return int(offsets.size)


@jit_bare_inline
def _fill(words: Any, place: int, memory: Any, is_foreign: bool, extents: Any) -> None:
    """Set the table of a block: rows that fill up are as the last one."""
    size = extents[2] * LANES
    zeros = -(-extents[2] // ROWS) * ROWS * LANES
    gather_words(words[:size], place, memory, is_foreign)
    for i in range(size, zeros):
        words[i] = words[i - LANES]
    for i in range(zeros, zeros + LANES):
        words[i] = 0


@jit_bare
def decode_blocks(
    payloads: Any, sums: Any, verify: bool, base: int, offsets: Any, numbers: Any, memory: Any,
    is_long: bool, is_foreign: bool, extents: Any, words: Any, scratch: Any, tail: Any, ends: Any,
) -> Any:  # fmt: skip
    """Fill blocks that are alike, up to one that is none; return how many, and what is wrong, or 0.

    Parameters
    ----------
    payloads : as `Payloads`
    sums : (n,) uint32, CRC-32C that they must have, where to `verify`
    base, offsets : where the blocks lie, as in `Places`
    numbers : (n,) int64, which of them to decode
    memory, is_long : as `lanes.memory_of` makes them
    tail, ends : as in `decode_tiles`
    """
    for filled in range(numbers.size):
        i = numbers[filled]
        at, stop = payloads[1][i], payloads[2][i]
        data = octets_at(payloads[0] + at, stop - at)
        if data.size == 0 or data[0] != KIND:
            return filled, OTHER_KIND
        if verify and kernel_crc32c(data) != sums[i]:
            return filled, WRONG_SUM
        wrong = decode_tiles(data, payloads[3] - stop, tail, words, extents, ends, scratch)
        if wrong:
            return filled, wrong
        place = base + offsets[i]
        scatter_words(words[: extents[2] * LANES], place, memory, is_long, is_foreign)
    return numbers.size, 0
