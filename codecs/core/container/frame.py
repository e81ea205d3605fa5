"""Frame of a chunk: conversion between blocks and the bytes of a chunk. See SPEC.md.

This is the only parser of untrusted bytes outside the codecs' own streams. No number in the bytes
determines an allocation: the metadata implies a `FrameLayout`, and the bytes must agree with it.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.checksum import Bytes, crc32c
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Payload, Runs
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, NewerFormat
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.codecs.core.ragged import RaggedArray

MAGIC = b"GSAW"
CODEC_VERSION = 5  # its offset in a header
VERSION = 2  # latest version; frames without checksums of lanes are of version 1
PRELUDE = struct.Struct("<4sBBHI")  # its checksum follows; the same in all versions
LANES = struct.Struct("<IB3x")  # the index checksum follows
CHECKSUM = struct.Struct("<I")
HEADER_BYTES = PRELUDE.size + LANES.size + 2 * CHECKSUM.size
MAX_BLOCK_BYTES = (1 << 32) - 1  # a length has 32 bits


@dataclass(frozen=True)
class FrameLayout:
    """Layout of the frame (encoded bytes) of a chunk, as metadata and codec parameters imply it.

    Attributes
    ----------
    codec_id, codec_version : from the codec's SPEC.md
    n_blocks : blocks in the chunk
    n_lanes : lanes per block (parts that are decoded in parallel), 0 for a codec without lanes
    lane_bytes : bytes per lane length in the index, 0 without lanes
    sums_lanes : True if the index has a checksum for each lane. Such lanes are whole bytes, and can
        be read separately.
    """

    codec_id: int
    codec_version: int
    n_blocks: int
    n_lanes: int = 0
    lane_bytes: int = 0
    sums_lanes: bool = False

    @property
    def version(self) -> int:
        """Frame version of SPEC.md: the lowest that has all features of this layout."""
        return 2 if self.sums_lanes else 1

    @cached_property
    def index_size(self) -> int:
        """Bytes of header and index."""
        per_lane = self.lane_bytes + CHECKSUM.size * self.sums_lanes
        return HEADER_BYTES + self.n_blocks * (8 + self.n_lanes * per_lane)

    @cached_property
    def head(self) -> bytes:
        """The only valid header for this layout: the bytes before the index checksum."""
        assert 1 <= self.codec_version <= 255
        prelude = PRELUDE.pack(
            MAGIC, self.version, self.codec_version, self.codec_id, self.n_blocks
        )
        prelude += CHECKSUM.pack(crc32c(prelude))
        return prelude + LANES.pack(self.n_lanes, self.lane_bytes)

    def index_checksum(self, index: bytes) -> int:
        """Return the index checksum of the header, CRC-32C of `head` followed by the index."""
        return crc32c(index, self._head_checksum)

    @cached_property
    def _head_checksum(self) -> int:
        return crc32c(self.head)


def lane_bytes(max_bits: int) -> int:
    """Return the bytes per lane length if no lane is longer than `max_bits`."""
    return max(1, (max_bits.bit_length() + 7) // 8)


class Index(NamedTuple):
    """Verified index of a frame: lengths and checksums of blocks and lanes.

    Attributes
    ----------
    checksums : (n_blocks,) uint32, CRC-32C of each block
    lane_bits : (n_blocks, n_lanes) int64, bits of each lane, or None without lanes
    offsets : (n_blocks + 1,) int64, byte offsets of the blocks in the chunk
    lane_sums : (n_blocks, n_lanes) uint32, CRC-32C of each lane, or None without checksums of lanes
    """

    checksums: npt.NDArray[np.uint32]
    lane_bits: npt.NDArray[np.int64] | None
    offsets: npt.NDArray[np.int64]
    lane_sums: npt.NDArray[np.uint32] | None = None

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Bytes of each block, (n_blocks,) int64."""
        return np.diff(self.offsets)


def pack(runs: Runs, layout: FrameLayout) -> memoryview:
    """Return the frame of a chunk's blocks; raise BadParams as `frames_of` does."""
    return _finished([_Frame(runs, layout)])[0]


def frames_of(output: Output, layout: FrameLayout) -> list[memoryview]:
    """Return the frames of all chunks in `output`, which have the same layout.

    The frame of a single chunk is built in place, if there is space for the index before its
    payloads.

    Raises
    ------
    BadParams : a block is longer than 4 GiB
    """
    runs, n = output.runs(), layout.n_blocks
    place = _place_of(output, layout) if isinstance(runs.payloads, RaggedArray) else None
    if place is not None:
        return _finished([_Frame(runs, layout, place)])
    return _finished([_Frame(runs[i : i + n], layout) for i in range(0, len(runs), n)])


def _place_of(output: Output, layout: FrameLayout) -> Payload | None:
    """Return the frame's memory within the output's buffer; None if it must be built elsewhere."""
    is_one = len(output) == layout.n_blocks and output.summed.all()
    if output.data is None or not is_one or output.lead < layout.index_size:
        return None
    frame = output.data[output.lead - layout.index_size : output.end]
    # If the frame is less than half of the buffer, a copy frees the rest.
    return frame.copy() if 2 * frame.size < output.data.size else frame


def _finished(frames: Sequence[_Frame]) -> list[memoryview]:
    # All chunks in one call: the copies of one chunk are too short for starting threads.
    moves = [(frame, i) for frame in frames for i in frame.moves]

    def move(number: int) -> None:
        frame, i = moves[number]
        frame.move(i)

    run_blocks(move, len(moves))
    return [frame.finished() for frame in frames]


class _Frame:
    """Frame under construction, in the output's buffer or in new memory.

    Attributes
    ----------
    moves : numbers of the blocks that still have to be copied
    """

    def __init__(self, runs: Runs, layout: FrameLayout, place: Payload | None = None) -> None:
        self.runs, self.layout, self.lengths = runs, layout, runs.lengths
        if self.lengths.max(initial=0) > MAX_BLOCK_BYTES:
            raise BadParams("an encoded block exceeds 4 GiB; choose a smaller block")
        if place is not None and runs.checksums is not None:
            self.moves, self.data, self.sums = range(0), place, runs.checksums.astype("<u4")
            return
        lead = layout.index_size
        self.moves = range(layout.n_blocks)
        self.ends = lead + np.cumsum(self.lengths)
        self.sums = np.empty(layout.n_blocks, "<u4")
        self.data = np.empty(int(self.ends[-1]) if self.ends.size else lead, np.uint8)

    def move(self, number: int) -> None:
        """Copy the payload of block `number` to its offset in the frame."""
        payload, sums, end = self.runs.payloads[number], self.runs.checksums, self.ends[number]
        self.data[end - payload.size : end] = payload
        self.sums[number] = crc32c(payload) if sums is None else sums[number]

    def finished(self) -> memoryview:
        """Write header and index before the blocks; return the frame."""
        lanes = _pack_lanes(self.runs, self.layout) + _sum_lanes(self.runs, self.layout)
        index = self.lengths.astype("<u4").tobytes() + self.sums.tobytes() + lanes
        lead = self.layout.index_size
        checksum = CHECKSUM.pack(self.layout.index_checksum(index))
        self.data[:lead] = np.frombuffer(self.layout.head + checksum + index, np.uint8)
        return self.data.data


def parse_index(prefix: Bytes, layout: FrameLayout) -> Index:
    """Verify header and index at the start of `prefix`; return the index.

    Parameters
    ----------
    prefix : the first `layout.index_size` bytes of a chunk, or more

    Raises
    ------
    CorruptChunk : the bytes are damaged, too few, or not what the metadata implies
    NewerFormat : they are of a later version
    """
    data = np.frombuffer(prefix, np.uint8)[: layout.index_size].tobytes()
    if not data.startswith(layout.head):
        layout = _of_earlier(data, layout)
    if not data.startswith(layout.head):
        _check_prelude(data, layout)
        _check_lanes(data, layout)
    _check_index(data, layout)
    return _read_index(data, layout)


def unpack(data: Bytes, layout: FrameLayout) -> Runs:
    """Verify index and size of a whole chunk; return its blocks, whose bytes are not verified.

    Raises
    ------
    CorruptChunk : the bytes are damaged, too few or too many, or not what the metadata implies
    NewerFormat : they are of a later version
    """
    octets = np.frombuffer(data, np.uint8)
    index = parse_index(octets, layout)
    if index.offsets[-1] != octets.size:
        raise CorruptChunk(f"the index says {index.offsets[-1]} bytes, there are {octets.size}")
    return Runs(RaggedArray(octets, index.offsets), index.lane_bits, index.checksums)


def take(index: Index, chosen: Sequence[int] | npt.NDArray[np.int64], payload: Bytes) -> Runs:
    """Return the chosen blocks, whose payloads are concatenated in `payload`, not yet verified.

    Raises
    ------
    CorruptChunk : the payload is too short; names the block
    """
    which = np.asarray(chosen, np.int64)
    data, lengths = np.frombuffer(payload, np.uint8), index.lengths[which]
    lanes = None if index.lane_bits is None else index.lane_bits[which]
    runs = Runs.back_to_back(data, lengths, lanes)
    if lengths.sum() > data.size:
        _refuse_short(index, which.tolist(), runs)
    return replace(runs, checksums=index.checksums[which], numbers=which)


def lane_ranges(index: Index, block: int, lanes: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the byte ranges of some lanes of a block, ascending, adjacent ones merged."""
    assert index.lane_bits is not None
    ends = int(index.offsets[block]) + (np.cumsum(index.lane_bits[block]) >> 3)
    begins = ends - (index.lane_bits[block] >> 3)
    runs = np.split(lanes, np.flatnonzero(np.diff(lanes) != 1) + 1)
    found = [(int(begins[run[0]]), int(ends[run[-1]])) for run in runs if run.size]
    return [(begin, end) for begin, end in found if begin < end]


def take_lanes(index: Index, block: int, lanes: npt.NDArray[np.int64], payload: Bytes) -> Runs:
    """Verify some lanes of one block, concatenated in `payload`; return the block with only these.

    Raises
    ------
    CorruptChunk : a lane has another length or checksum; names the block
    """
    assert index.lane_bits is not None
    assert index.lane_sums is not None
    data, bits = np.frombuffer(payload, np.uint8), np.zeros_like(index.lane_bits[block])
    bits[lanes] = index.lane_bits[block][lanes]
    ends = np.cumsum(bits) >> 3
    if ends[-1] != data.size:
        raise CorruptChunk(f"the index says {ends[-1]} bytes, there are {data.size}", block=block)
    for lane in lanes.tolist():
        own = data[ends[lane] - (bits[lane] >> 3) : ends[lane]]
        if crc32c(own) != index.lane_sums[block, lane]:
            raise CorruptChunk(f"the checksum of lane {lane} is wrong", block=block)
    there = np.zeros((1, bits.size), bool)
    there[0, lanes] = True
    return Runs((data,), bits[None], None, np.array([block]), lanes_there=there)


def _refuse_short(index: Index, which: list[int], runs: Runs) -> None:
    lengths = index.lengths[which].tolist()
    for i, payload, length in zip(which, runs.payloads, lengths, strict=True):
        if payload.size != length:
            raise CorruptChunk(f"the index says {length} bytes, there are {payload.size}", block=i)


def _pack_lanes(runs: Runs, layout: FrameLayout) -> bytes:
    if runs.lane_bits is None:  # without blocks there are no lanes
        assert layout.n_lanes == 0 or layout.n_blocks == 0
        return b""
    assert runs.lane_bits.shape == (layout.n_blocks, layout.n_lanes)
    wide = runs.lane_bits.astype("<u8", order="C")
    octets = wide.view(np.uint8).reshape(layout.n_blocks, layout.n_lanes, 8)
    assert not octets[..., layout.lane_bytes :].any(), "a lane is longer than its codec promised"
    return octets[..., : layout.lane_bytes].tobytes()


def _sum_lanes(runs: Runs, layout: FrameLayout) -> bytes:
    """Return the CRC-32C of every lane, as bytes of the index; b"" if the index has none."""
    if not layout.sums_lanes or runs.lane_bits is None:
        return b""
    sums = [
        crc32c(payload[begin:end])
        for payload, bits in zip(runs.payloads, runs.lane_bits, strict=True)
        for begin, end in itertools.pairwise((0, *(np.cumsum(bits) >> 3).tolist()))
    ]
    return np.array(sums, "<u4").tobytes()


def _of_earlier(data: bytes, layout: FrameLayout) -> FrameLayout:
    """Return the layout with the codec version of the frame, if that is an earlier one."""
    found = data[CODEC_VERSION] if len(data) > CODEC_VERSION else 0
    return replace(layout, codec_version=found) if 0 < found < layout.codec_version else layout


def _check_prelude(data: bytes, layout: FrameLayout) -> None:
    """Check magic, versions, codec id, blocks: SPEC.md, "What a reader must check", 1 to 3."""
    size = PRELUDE.size
    if len(data) < size + CHECKSUM.size:
        raise CorruptChunk(f"{len(data)} bytes are too few for a header")
    magic, version, codec_version, codec_id, n_blocks = PRELUDE.unpack_from(data)
    if magic != MAGIC:
        raise CorruptChunk("no Gangsaw frame: wrong magic")
    if CHECKSUM.unpack_from(data, size)[0] != crc32c(data[:size]):
        raise CorruptChunk("the checksum of the header is wrong")
    if version > VERSION or codec_version > layout.codec_version:
        raise NewerFormat(
            f"chunk of format {version}, codec version {codec_version}: upgrade Gangsaw to read it"
        )
    _agree("format version", version, layout.version)
    _agree("codec version", codec_version, layout.codec_version)
    _agree("codec id", codec_id, layout.codec_id)
    _agree("number of blocks", n_blocks, layout.n_blocks)


def _check_lanes(data: bytes, layout: FrameLayout) -> None:
    """Raise the error of wrong lanes or reserved bytes: SPEC.md, "What a reader must check", 3."""
    _check_size(data, layout)
    n_lanes, width = LANES.unpack_from(data, PRELUDE.size + CHECKSUM.size)
    _agree("lanes and their width", (n_lanes, width), (layout.n_lanes, layout.lane_bytes))
    raise CorruptChunk("reserved bytes of the header are not 0")


def _check_size(data: bytes, layout: FrameLayout) -> None:
    if len(data) < layout.index_size:
        raise CorruptChunk(f"{len(data)} bytes are too few for an index of {layout.index_size}")


def _check_index(data: bytes, layout: FrameLayout) -> None:
    """Check size and checksum of the index: SPEC.md, "What a reader must check", 4."""
    _check_size(data, layout)
    found = CHECKSUM.unpack_from(data, HEADER_BYTES - CHECKSUM.size)[0]
    if found != layout.index_checksum(data[HEADER_BYTES:]):
        raise CorruptChunk("the checksum of the index is wrong")


def _agree(what: str, found: object, implied: object) -> None:
    if found != implied:
        raise CorruptChunk(f"{what} is {found}, the array's metadata implies {implied}")


def _read_index(data: bytes, layout: FrameLayout) -> Index:
    """Read the index and check its lanes: SPEC.md, "What a reader must check", 5."""
    n, at = layout.n_blocks, HEADER_BYTES
    pairs = np.frombuffer(data, "<u4", 2 * n, at)
    offsets = np.empty(n + 1, np.int64)
    offsets[0] = layout.index_size
    offsets[1:] = pairs[:n]
    np.add.accumulate(offsets, out=offsets)
    checksums = pairs[n:].astype(np.uint32, copy=False)
    index = Index(checksums, None, offsets)
    if not layout.n_lanes:
        return index
    at += 8 * n
    end = at + n * layout.n_lanes * layout.lane_bytes
    lane_bits = _read_lanes(data[at:end], layout, index.lengths)
    if not layout.sums_lanes:
        return index._replace(lane_bits=lane_bits)
    if (lane_bits & 7).any() or (lane_bits.sum(axis=1) != 8 * index.lengths).any():
        raise CorruptChunk("its lanes are no whole bytes, or not all of the block")
    sums = np.frombuffer(data, "<u4", n * layout.n_lanes, end).reshape(n, layout.n_lanes)
    return index._replace(lane_bits=lane_bits, lane_sums=sums.astype(np.uint32, copy=False))


def _read_lanes(
    data: bytes, layout: FrameLayout, lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    shape = (layout.n_blocks, layout.n_lanes)
    octets = np.zeros((*shape, 8), np.uint8)
    packed = np.frombuffer(data, np.uint8).reshape(*shape, layout.lane_bytes)
    octets[..., : layout.lane_bytes] = packed
    lanes = octets.view("<u8")[..., 0]
    room = 8 * lengths.astype(np.uint64)
    # each lane before the sum, which could wrap around 2^64
    wrong = (lanes > room[:, None]).any(axis=1) | (lanes.sum(axis=1) > room)
    if wrong.any():
        block = int(np.argmax(wrong))
        raise CorruptChunk("the lanes are longer than the block", block=block)
    return lanes.astype(np.int64)
