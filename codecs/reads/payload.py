"""Payload of a block: concatenated lanes, two with shared data and one for each window.

SPEC.md, Block, defines the bits.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import Bools, Int64s
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads.lines import Lines, Text

HEAD = struct.Struct("<BQQ")
SHARED_LANES = 2  # before those of windows: header and tables, then other data of all windows
MOST_GROWTH = 64  # bytes that a payload may have in excess of its block
STORED, CODED = 0, 1
OPEN = 1 << 2  # flag of the mode byte; higher bits belong to the kind
MODE_BITS = 3


class Coded(NamedTuple):
    """Coded form of a block, in contrast to stored bytes, in the parts of its payload.

    Attributes
    ----------
    flags : flags of the mode byte, from bit 3 on
    head : lane 0 after the fixed header
    shared : lane 1
    lanes : lanes of the windows, concatenated
    sizes : (n_windows,) int64, bytes of each window's lane
    """

    flags: int
    head: Text
    shared: Text
    lanes: Text
    sizes: Int64s


class Head(NamedTuple):
    """Fixed header at the start of lane 0.

    Attributes
    ----------
    mode : STORED or CODED
    is_open : True if the last line has no newline
    flags : flags of the mode byte that depend on the kind of text
    used : bytes of the text
    n_lines : lines of the text
    """

    mode: int
    is_open: bool
    flags: int
    used: int
    n_lines: int


class BlockLanes(NamedTuple):
    """Lanes of a block to decode, all or some.

    Attributes
    ----------
    head : fixed header of the block
    rest : (n,) uint8, lane 0 after the fixed header
    shared : (n,) uint8, lane 1
    data : (n,) uint8 that contains the lanes of windows
    begins, ends : (n_windows,) int64, their offsets in `data`
    n_bytes : bytes of the block
    lane : bytes of a window
    requested : (n_windows,) bool, True for requested windows; the others are empty
    """

    head: Head
    rest: Text
    shared: Text
    data: Text
    begins: Int64s
    ends: Int64s
    n_bytes: int
    lane: int
    requested: Bools

    @property
    def n_windows(self) -> int:
        """Number of windows of the block."""
        return self.begins.size

    @property
    def there(self) -> Bools:
        """Mask of the windows whose lanes are not empty, (n_windows,)."""
        return self.begins < self.ends


def pack_payload(lines: Lines, coded: Coded | None) -> tuple[Text, Int64s]:
    """Return the payload of a block and the bits of its lanes, stored if that is not longer."""
    stored = HEAD.size + lines.text.size
    parts = None if coded is None else _parts(lines, coded)
    if parts is None or sum(part.size for part in parts) >= stored or not coded:
        first = _head(lines, STORED, 0)
        windows = np.clip(lines.text.size - np.arange(lines.n_windows) * lines.lane, 0, lines.lane)
        return _joined([first, lines.text], [first.size, 0], windows)
    shared = [parts[0].size + parts[1].size, coded.shared.size]
    return _joined(parts, shared, coded.sizes)


def lanes_for(lane: int, lane_bits: Int64s, first: int, end: int) -> Int64s:
    """Return the lanes to decode for items first..end - 1 of a block.

    The line that contains the first item may start in an earlier window, the last non-empty one
    before it. The result includes empty windows between them: `check_spans` verifies that they are
    empty.

    Parameters
    ----------
    lane : items of a window
    lane_bits : (n_lanes,) int64
    """
    windows = np.flatnonzero(lane_bits[SHARED_LANES:])
    before = int(np.searchsorted(windows, first // lane))
    begin = int(windows[before - 1]) if before else 0
    shared, own = np.arange(SHARED_LANES), np.arange(begin, -(-end // lane))
    return np.concatenate((shared, SHARED_LANES + own))


def parse_payload(
    data: Text, lane_bits: Int64s, n_bytes: int, lane: int, there: Bools | None = None
) -> BlockLanes:
    """Return the parts of a payload.

    Parameters
    ----------
    data : (n,) uint8, verified
    lane_bits : (n_lanes,) int64
    n_bytes : bytes of the block
    lane : bytes of a window
    there : (n_lanes,) bool, True for requested lanes, the others have no bits; None for all

    Raises
    ------
    CorruptChunk : the header is invalid for such a block
    """
    if (lane_bits & 7).any() or lane_bits.sum() != 8 * data.size:
        raise CorruptChunk("its lanes are no bytes, or not all of the block")
    n_windows = -(-n_bytes // lane)
    ends = np.cumsum(lane_bits >> 3)
    if lane_bits[SHARED_LANES + n_windows :].any() or ends[0] < HEAD.size:
        raise CorruptChunk("it has lanes of windows that it lacks, or no head")
    head = _checked(HEAD.unpack(data[: HEAD.size].tobytes()), n_bytes)
    begins = np.concatenate(([0], ends[:-1]))
    own = slice(SHARED_LANES, SHARED_LANES + n_windows)
    rest, shared = data[HEAD.size : ends[0]], data[ends[0] : ends[1]]
    places = begins[own], ends[own], n_bytes, lane, requested_windows(there, n_windows)
    return BlockLanes(head, rest, shared, data, *places)


def requested_windows(there: Bools | None, n_windows: int) -> Bools:
    """Return the mask of requested windows, (n_windows,), from that of the fetched lanes."""
    if there is None:
        return np.ones(n_windows, bool)
    return there[SHARED_LANES : SHARED_LANES + n_windows]


def window_runs(there: Bools, step: int) -> list[slice[int, int, None]]:
    """Return the runs of `step` adjacent windows that contain a requested one.

    there : (n_windows,) mask of requested windows

    A partial read has few of them, and a call without work costs as much as a window.
    """
    firsts = step * np.unique(np.flatnonzero(there) // step)
    return [slice(i, min(i + step, there.size)) for i in firsts.tolist()]


def clear_rest(payload: BlockLanes, out: Text) -> None:
    """Write the zeros after the text, in the requested windows."""
    requested = np.flatnonzero(payload.requested)
    if requested.size:
        begin = max(payload.head.used, int(requested[0]) * payload.lane)
        out[begin : (int(requested[-1]) + 1) * payload.lane] = 0


def check_spans(payload: BlockLanes, spans: Int64s) -> None:
    """Raise CorruptChunk unless the windows' lines are the lines of their block, in order.

    The requested windows are adjacent. The first of them is the block's first window, or is not
    empty, and every line that begins in one of them must be present.

    spans : (n_windows, 3) int64 of each window: start and end of its text, and its lines; negative
        numbers if it is damaged, anything if it is empty
    """
    spans = spans[payload.there]
    if (spans < 0).any():
        raise CorruptChunk("a window is damaged")
    begins, ends, n_lines = spans.T
    requested = np.flatnonzero(payload.requested)
    if not requested.size:
        return
    start = 0 if requested[0] == 0 or not begins.size else begins[0]
    before = np.concatenate(([start], ends))
    reach = min(payload.head.used, int(requested[-1] + 1) * payload.lane)
    is_right = bool((before[:-1] == begins).all()) and before[-1] >= reach
    if payload.requested.all():
        is_right &= n_lines.sum() == payload.head.n_lines and before[-1] == payload.head.used
    if not is_right:
        raise CorruptChunk("its windows are not the lines that its head says")


def read_stored_text(payload: BlockLanes, out: Text) -> None:
    """Read a block from stored windows; raise CorruptChunk if their sizes are wrong."""
    used, sizes = payload.head.used, payload.ends - payload.begins
    windows = np.clip(used - np.arange(payload.n_windows) * payload.lane, 0, payload.lane)
    there = payload.requested & (windows > 0)
    if (sizes != windows * there).any() or payload.rest.size or payload.shared.size:
        raise CorruptChunk("its stored windows are not as long as its text")
    for i in np.flatnonzero(there).tolist():
        begin, place = int(payload.begins[i]), i * payload.lane
        out[place : place + sizes[i]] = payload.data[begin : begin + sizes[i]]
    clear_rest(payload, out)


def _head(lines: Lines, mode: int, flags: int) -> Text:
    mode |= (OPEN if lines.is_open else 0) | flags << MODE_BITS
    return np.frombuffer(HEAD.pack(mode, lines.text.size, lines.starts.size), np.uint8)


def _parts(lines: Lines, coded: Coded) -> list[Text]:
    return [_head(lines, CODED, coded.flags), coded.head, coded.shared, coded.lanes]


def _joined(
    parts: Sequence[Text], shared: Sequence[int], windows: Int64s
) -> tuple[Text, npt.NDArray[np.int64]]:
    bits = 8 * np.concatenate((np.array(shared, np.int64), windows))
    return np.concatenate(parts), bits


def _checked(fields: tuple[int, int, int], n_bytes: int) -> Head:
    mode, used, n_lines = fields
    head = Head(mode & (OPEN - 1), bool(mode & OPEN), mode >> MODE_BITS, used, n_lines)
    if head.mode > CODED or used > n_bytes or n_lines > used or bool(n_lines) != bool(used):
        raise CorruptChunk(f"its head says mode {head.mode}, {used} bytes in {n_lines} lines")
    if head.mode == STORED and head.flags:
        raise CorruptChunk("it is stored and has flags of what is coded")
    return head
