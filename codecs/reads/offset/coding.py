"""Coding of the kind "offset": starts of lines, as differences (SPEC.md, Offsets).

Any numbers of 64 bits in any order are coded losslessly; steps of similar sizes take few bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Int64s, NumpyArray
from gangsaw.codecs.core.entropy import rans_lanes
from gangsaw.codecs.core.entropy.sparse_tables import (
    SYMBOLS,
    RansTables,
    decoder_tables,
    normalised,
    read_stored_tables,
    stored_tables,
)
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.coding import of_blocks
from gangsaw.codecs.reads.lines import Text
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import CODED, SHARED_LANES, STORED, requested_windows, window_runs

PLAIN = 192  # smaller numbers are a symbol; others are their bit length, and raw bits
PLAIN_BITS = 8  # of the first number that is not plain
CENTRE = 8  # bytes of the usual difference
TOKENS = 7  # of a number at most: its symbol, and 63 raw bits, 12 at a time
GROUP = 16  # lanes that a thread decodes at a time
WRONG_WINDOW = "its offsets do not match the block"

Items = NumpyArray  # (n,) uint64


def encode_offsets(block: NumpyArray, params: Params) -> tuple[Text, Int64s]:
    """Encode a block of line offsets, (n,) uint64; return its payload and its lanes' bits."""
    lane = params.sizes.lane
    windows = [block[at : at + lane] for at in range(0, block.size, lane)]
    centre = usual_difference(block)
    counts = np.zeros((1, SYMBOLS), np.int64)
    for window in windows:
        count_offset_symbols(window, centre, counts[0])
    frequencies = normalised(counts)
    lanes = _encoded(windows, centre, frequencies)
    head = coded_head(centre, frequencies)
    if not pays(head, sum(part.size for part in lanes), block.nbytes):
        return stored_payload(block, lane)
    return joined_payload(head, lanes)


def coded_head(centre: int, frequencies: npt.NDArray[np.uint16]) -> Text:
    """Return lane 0 of a block of offsets that is coded with one table.

    centre : the usual difference of neighbouring offsets
    frequencies : (1, 256)
    """
    parts = np.array([CODED], np.uint8), np.array([centre], "<i8").view(np.uint8)
    return np.concatenate((*parts, stored_tables(frequencies)))


def pays(head: Text, n_bytes: int, block_bytes: int) -> bool:
    """Return True if a header and n_bytes bytes of lanes are shorter than a stored block."""
    return head.size - 1 + n_bytes < block_bytes


def stored_payload(block: NumpyArray, lane: int) -> tuple[Text, Int64s]:
    """Return the payload of a stored block, and the bits of its lanes."""
    windows = [block[at : at + lane] for at in range(0, block.size, lane)]
    lanes = [window.astype("<u8").view(np.uint8) for window in windows]
    return joined_payload(np.array([STORED], np.uint8), lanes)


def joined_payload(head: Text, lanes: list[Text]) -> tuple[Text, Int64s]:
    """Join lane 0 and the lanes of windows; return the payload and the bits of all lanes."""
    sizes = [head.size, 0, *(part.size for part in lanes)]
    return np.concatenate([head, *lanes]), 8 * np.array(sizes, np.int64)


class OffsetBlock(NamedTuple):
    """Shared data of all lanes of a block of line offsets.

    Attributes
    ----------
    ends : (n_lanes,) int64, end of each lane
    centre : the usual difference of neighbouring offsets
    tables : the one table; None if windows are stored
    """

    ends: Int64s
    centre: int
    tables: RansTables | None


def read_block(data: Text, lane_bits: Int64s, n_items: int, lane: int) -> OffsetBlock:
    """Return the shared data of a payload of offsets; raise CorruptChunk if it is invalid."""
    n, ends = -(-n_items // lane), np.cumsum(lane_bits >> 3)
    if (lane_bits & 7).any() or ends[-1] != data.size or ends[SHARED_LANES + n - 1] != data.size:
        raise CorruptChunk("its lanes are no bytes, or not all of the block")
    if not ends[0] or ends[1] != ends[0] or data[0] > CODED:
        raise CorruptChunk("its head is not that of offsets")
    if data[0] == STORED:
        return OffsetBlock(ends, 0, None)
    return OffsetBlock(ends, *_read_head(data[1 : ends[0]]))


def decode_offsets(
    data: Text, lane_bits: Int64s, out: NumpyArray, params: Params, there: Bools | None
) -> None:
    """Decode a block of line offsets, (n,) uint64, or only some of its windows.

    Raises CorruptChunk if the payload is invalid for such a block.

    there : mask of the lanes that are present, None for all
    """
    lane, n = params.sizes.lane, -(-out.size // params.sizes.lane)
    ends, centre, tables = read_block(data, lane_bits, out.size, lane)
    requested = requested_windows(there, n)
    if tables is None:
        read_stored_offsets(data, ends, out, lane, requested)
        return

    groups = window_runs(requested, GROUP)

    def decode_some(group: int) -> None:
        own = groups[group]
        for i in range(own.start, own.stop):
            window = out[i * lane : (i + 1) * lane]
            begin, end = ends[i + 1], ends[i + 2]
            if requested[i] and not read_lane(data, int(begin), int(end), tables, centre, window):
                raise CorruptChunk(WRONG_WINDOW)

    run_blocks(decode_some, len(groups))


OFFSET = of_blocks(encode_offsets, decode_offsets)


def usual_difference(block: Items) -> int:
    """Return a signed number close to most differences of neighbouring offsets.

    block : (n,) uint64 of NumPy or CuPy. NumPy's functions dispatch to CuPy; `arange` would not
    """
    changes = np.sort(np.diff(block).view(np.int64))
    if not changes.size:
        return 0
    reach = np.minimum(changes, np.iinfo(np.int64).max - PLAIN) + PLAIN
    stops = np.searchsorted(changes, reach)
    numbers = np.cumsum(np.ones_like(changes)) - 1
    first = int((stops - numbers).argmax())
    return int(changes[(first + int(stops[first])) // 2])


def _encoded(windows: list[Items], centre: int, frequencies: npt.NDArray[np.uint16]) -> list[Text]:
    """Return the rANS lane of each window of offsets."""
    longest = max((window.size for window in windows), default=0)
    tokens, entries = (
        rans_lanes.tokens_of(TOKENS * longest),
        rans_lanes.build_symbol_table(frequencies),
    )
    out, lanes = np.empty(2 * TOKENS * longest + rans_lanes.STATE_BYTES, np.uint8), []
    for window in windows:
        n = int(put_offset_window(window, centre, tokens))
        own = tokens.tables[:n], tokens.symbols[:n]
        lanes.append(out[int(rans_lanes.encode_lane(*own, entries, out, out.size)) :].copy())
    return lanes


def read_stored_offsets(
    data: Text, ends: Int64s, out: NumpyArray, lane: int, requested: Bools
) -> None:
    """Copy offsets from stored windows to `out`; raise CorruptChunk if they are invalid."""
    sizes = np.diff(ends[SHARED_LANES - 1 : SHARED_LANES + requested.size])
    windows = np.clip(out.size - np.arange(sizes.size) * lane, 0, lane)
    there = requested & (windows > 0)
    if ends[0] != 1 or (sizes != 8 * windows * there).any():
        raise CorruptChunk("its stored windows are not as long as its offsets")
    items, at = np.frombuffer(data[1:].tobytes(), "<u8"), 0
    for i in np.flatnonzero(there).tolist():
        out[i * lane : i * lane + windows[i]] = items[at : at + windows[i]]
        at += windows[i]


def _read_head(data: Text) -> tuple[int, RansTables]:
    """Return the most frequent difference of offsets, and the decoder table of the others.

    Raises CorruptChunk if they are invalid.
    """
    if data.size < CENTRE:
        raise CorruptChunk("its head is not that of offsets")
    frequencies, rest = read_stored_tables(data[CENTRE:], 1)
    if rest.size:
        raise CorruptChunk("bytes follow its tables")
    return int(np.frombuffer(data[:CENTRE].tobytes(), "<i8")[0]), decoder_tables(frequencies)


@jit(inline=True)
def to_zigzag(change: np.int64) -> np.uint64:
    """Return the unsigned number of a signed one: 0, -1, 1, -2 become 0, 1, 2, 3."""
    return np.uint64(change << 1 ^ change >> 63)


@jit(inline=True)
def to_offset_symbol(value: np.uint64) -> tuple[int, int]:
    """Return the symbol of a zigzag-coded difference, and the number of raw bits after it."""
    if value < np.uint64(PLAIN):
        return int(np.int64(value)), 0
    bits = PLAIN_BITS
    while bits < 64 and value >> np.uint64(bits):
        bits += 1
    return PLAIN + bits - PLAIN_BITS, bits - 1


@jit
def count_offset_symbols(window: Items, centre: int, counts: Int64s) -> None:
    """Count the symbols of a window of offsets into `counts`, (256,)."""
    for i in range(1, window.size):
        change = np.int64(window[i] - window[i - 1]) - centre
        counts[to_offset_symbol(to_zigzag(change))[0]] += 1


@jit
def put_offset_window(window: Items, centre: int, tokens: rans_lanes.Tokens) -> int:
    """Write the coder tokens of a window of offsets; return their number."""
    n = rans_lanes.put_raw(tokens, 0, 64, np.int64(window[0]))
    for i in range(1, window.size):
        value = to_zigzag(np.int64(window[i] - window[i - 1]) - centre)
        symbol, bits = to_offset_symbol(value)
        n = rans_lanes.put(tokens, n, 0, symbol)
        n = rans_lanes.put_raw(tokens, n, bits, np.int64(value))
    return n


@jit
def read_lane(
    data: Text, begin: int, stop: int, tables: RansTables, centre: int, out: Items
) -> bool:
    """Decode one lane to its window of offsets, `out`; return True if the lane is valid."""
    x, at = rans_lanes.begin_lane(data, begin, stop)
    if at > stop:
        return False
    first, x, at = rans_lanes.get_raw(64, x, at, data, stop)
    item = int(first)
    out[0] = np.uint64(item)
    for i in range(1, out.size):
        symbol, x, at = rans_lanes.get(tables, 0, x, at, data, stop)
        value = symbol
        if symbol >= PLAIN:
            bits = symbol - PLAIN + PLAIN_BITS - 1
            if bits > 63:
                return False
            value, x, at = rans_lanes.get_raw(bits, x, at, data, stop)
            value |= 1 << bits
        if at > stop:
            return False
        change = np.int64(np.uint64(value) >> np.uint64(1)) ^ -(value & 1)
        item += int(change) + centre
        out[i] = np.uint64(item)
    return rans_lanes.is_whole(x, at, stop)
