"""Effort fast: Burrows-Wheeler string to bytes and back, with static tables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gangsaw.codecs.bwt.fast.decode import (
    AT,
    END,
    LAST,
    LIST,
    OUT,
    ROW,
    SPARE,
    STATE,
    STOP,
    Rows,
    Words,
    decode_fast_lanes,
    slots_of,
)
from gangsaw.codecs.bwt.fast.encode import build_token_entries, encode_fast_lanes
from gangsaw.codecs.bwt.fast.merge import MOST_TABLES
from gangsaw.codecs.bwt.fast.symbols import TOKENS, WIDTH
from gangsaw.codecs.bwt.fast.tables import (
    KINDS,
    StaticTables,
    decode_tables,
    encode_tables,
    frequencies_of,
    tables_of,
)
from gangsaw.codecs.bwt.fast.tokens import tokenise_lanes
from gangsaw.codecs.bwt.lanes.cut import divide_into_lanes, list_words
from gangsaw.codecs.bwt.lanes.estimate import gets_no_shorter
from gangsaw.codecs.bwt.lanes.lists import Heads, decode_heads, encode_heads
from gangsaw.codecs.bwt.lanes.ranks import LIST_WORDS
from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.entropy.rans_tables import TOTAL
from gangsaw.codecs.core.errors import CorruptChunk

SIZE_BYTES = 3  # bytes of a lane length
LEAST_LANE = 4  # bytes of its state
DEVICE_TABLES = KINDS * MOST_TABLES * (4 * TOTAL + 2 * WIDTH)  # slots on a GPU, too
DEVICE_COUNTS = KINDS * TOKENS * 4 * 2  # token counts, and their entries
DEVICE_FIXED = 1 << 13  # contexts, lanes, lists, and rounding of allocations
WRONG_LANES = "its lanes are wrong"


class FastParts(NamedTuple):
    """Parsed coded string of effort fast, input of its decoder.

    Attributes
    ----------
    heads : heads of the lanes
    stops : (n_lanes,) int64, end offset of each lane in `body`, in words
    tables : frequency tables of ranks and lengths
    body : (k,) uint8, the words of all lanes
    """

    heads: Heads
    stops: Int64s
    tables: StaticTables
    body: Bytes


def fast_scratch_bytes(n: int) -> int:
    """Return an upper bound of the scratch memory to encode or decode n bytes with effort fast."""
    return 12 * n + (2 << 20)


def fast_decoder_bytes(n_bytes: int, n: int) -> int:
    """Return an upper bound of the device memory to decode n_bytes coded bytes to n bytes.

    The n bytes themselves are not included.
    """
    return n_bytes + DEVICE_TABLES + DEVICE_FIXED


def fast_encoder_bytes(n: int) -> int:
    """Return an upper bound of the device memory to encode n bytes, given as runs.

    The runs themselves are not included.
    """
    return 6 * n + DEVICE_COUNTS + DEVICE_FIXED  # tokens, words


def encode_fast_string(bwt: Bytes, buffer: Bytes | None = None) -> Bytes | None:
    """Encode a Burrows-Wheeler transformed string with effort fast; None if it gets no shorter.

    Parameters
    ----------
    bwt : (n,) uint8, n >= 1
    buffer : (m,) uint8, output buffer, used if the result fits; else memory is allocated
    """
    parts = None if gets_no_shorter(bwt) else encode_fast_parts(bwt, bwt.size)
    if parts is None:
        return None
    size = sum(part.size for part in parts)
    fits = buffer is not None and buffer.size >= size
    return np.concatenate(parts, out=buffer[:size] if buffer is not None and fits else None)


def encode_fast_parts(bwt: Bytes, limit: int) -> list[Bytes] | None:
    """Encode a transformed string with effort fast; None if it takes `limit` bytes or more."""
    lanes = divide_into_lanes(bwt, by_decisions=False)
    tokens = tokenise_lanes(lanes)
    tables = tables_of(tokens.counts)
    packed = np.empty(SIZE_BYTES * (lanes.sizes.size - 1), np.uint8)
    parts = [encode_heads(lanes), packed, encode_tables(tables)]
    left = limit - 1 - sum(part.size for part in parts)
    found = encode_fast_lanes(
        lanes, tokens, build_token_entries(tables, frequencies_of(tables)), max(0, left)
    )
    if found is None or left < 0:
        return None
    body, sizes = found
    packed[:] = packed_sizes(sizes)
    return [*parts, body]


def packed_sizes(sizes: Int64s) -> Bytes:
    """Return the stored byte sizes of all lanes but the last one."""
    parts_of_sizes = sizes[:-1].astype("<u4").view(np.uint8)
    return parts_of_sizes.reshape(-1, 4)[:, :SIZE_BYTES].ravel()


def decode_fast_string(data: Bytes, out: Bytes) -> None:
    """Decode (k,) uint8 of `encode_fast_string` to the transformed string `out`, (n,) uint8.

    Raises
    ------
    CorruptChunk : the data is not a string of this length
    """
    parts = read_parts(data, out.size)
    body, tables = parts.body, parts.tables
    words = np.zeros(body.size // 2 + SPARE, np.uint16)
    words[:-SPARE] = np.frombuffer(body.tobytes(), "<u2", body.size // 2)
    rows = _rows_of(parts.heads, parts.stops, words)
    if not decode_fast_lanes(words, slots_of(tables, frequencies_of(tables)), rows, out):
        raise CorruptChunk(WRONG_LANES)


def read_parts(data: Bytes, n: int) -> FastParts:
    """Parse a coded string of effort fast, (k,) uint8, for n >= 1 bytes.

    Raises
    ------
    CorruptChunk : heads, lengths or tables are invalid
    """
    heads = decode_heads(data, n)
    ends, taken = _lane_ends(data[heads.end :], heads.sizes.size)
    tables, end = decode_tables(data[heads.end + taken :])
    body = data[heads.end + taken + end :]
    return FastParts(heads, _checked(np.append(ends, body.size), heads), tables, body)


def highest_ranks(heads: Heads) -> Int64s:
    """Return the highest move-to-front rank of each lane, (n_lanes,) int64."""
    return np.maximum(1, heads.sizes - 1)


def _lane_ends(data: Bytes, n_lanes: int) -> tuple[Int64s, int]:
    """Read the stored lane sizes; return the byte offset of each lane's end but the last one's.

    The second result is the number of bytes read.
    """
    taken = SIZE_BYTES * (n_lanes - 1)
    if data.size < taken:
        raise CorruptChunk("the lengths of its lanes are cut off")
    packed = data[:taken].reshape(-1, SIZE_BYTES).astype(np.int64)
    return np.cumsum(packed @ (1 << 8 * np.arange(SIZE_BYTES))), taken


def _checked(ends: Int64s, heads: Heads) -> Int64s:
    """Convert the end offsets of lanes from bytes to words; raise CorruptChunk if invalid."""
    lengths = np.diff(ends, prepend=0)
    least = np.where(heads.sizes, LEAST_LANE, 0)
    if (lengths < least).any() or (lengths % 2).any() or (lengths[heads.sizes == 0]).any():
        raise CorruptChunk("the lengths of its lanes are wrong")
    return ends // 2


def _rows_of(heads: Heads, stops: Int64s, words: Words) -> Rows:
    """Return the decoder's state of non-empty lanes at their first run, (n_lanes, ROW) uint64."""
    some = np.flatnonzero(heads.sizes)
    at, rows = np.append(0, stops[:-1])[some], np.zeros((some.size, ROW), np.uint64)
    rows[:, STATE] = words[at] | words[at + 1].astype(np.uint64) << np.uint64(16)
    rows[:, AT], rows[:, STOP] = at + 2, stops[some]
    rows[:, OUT], rows[:, END] = heads.bounds[some], heads.bounds[some + 1]
    rows[:, LAST] = highest_ranks(heads)[some]
    lists = list_words(heads.lists).reshape(-1, LIST_WORDS)
    rows[:, int(LIST) : int(LIST) + LIST_WORDS] = lists[some]
    return rows
