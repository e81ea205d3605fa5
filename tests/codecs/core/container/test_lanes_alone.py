"""Frames of version 2: lanes with checksums of their own, so that some can be read alone."""

from __future__ import annotations

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.frame import FrameLayout
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk

LAYOUT = FrameLayout(7, 1, 2, 3, 2, sums_lanes=True)


def blocks() -> Runs:
    rng = np.random.default_rng(0)
    lanes = np.array([[5, 0, 7], [1, 40, 3]])
    data = rng.integers(0, 256, lanes.sum(), np.uint8)
    return Runs.back_to_back(data, lanes.sum(axis=1), 8 * lanes)


def test_the_bytes_are_those_of_the_specification() -> None:
    """Written out by hand from SPEC.md."""
    runs = blocks()
    payload = runs.joined_payload().tobytes()
    prelude = b"GSAW\x02\x01\x07\0\x02\0\0\0"
    head = prelude + google_crc32c.value(prelude).to_bytes(4, "little") + b"\x03\0\0\0\x02\0\0\0"
    parts = [payload[:5], b"", payload[5:12], payload[12:13], payload[13:53], payload[53:]]
    index = b"\x0c\0\0\0\x2c\0\0\0"
    for whole in (payload[:12], payload[12:]):
        index += google_crc32c.value(whole).to_bytes(4, "little")
    index += b"".join((8 * len(part)).to_bytes(2, "little") for part in parts)
    index += b"".join(google_crc32c.value(part).to_bytes(4, "little") for part in parts)
    checksum = google_crc32c.value(head + index).to_bytes(4, "little")
    assert frame.pack(runs, LAYOUT) == head + checksum + index + payload


@given(st.sets(st.integers(0, 2)), st.integers(0, 1))
def test_some_lanes_are_taken_and_verified(chosen: set[int], block: int) -> None:
    data = frame.pack(blocks(), LAYOUT)
    index = frame.parse_index(data, LAYOUT)
    lanes = np.array(sorted(chosen), np.int64)
    ranges = frame.lane_ranges(index, block, lanes)
    fetched = b"".join(bytes(data[a:b]) for a, b in ranges)
    runs = frame.take_lanes(index, block, lanes, fetched)
    assert runs.lanes_there is not None
    assert runs.lane_bits is not None
    assert np.flatnonzero(runs.lanes_there[0]).tolist() == sorted(chosen)
    sizes = (blocks().lane_bits[block] >> 3).tolist()  # type: ignore[index]
    assert (runs.lane_bits[0] >> 3).tolist() == [n * (i in chosen) for i, n in enumerate(sizes)]
    whole = bytes(blocks().payloads[block])
    ends = np.cumsum(sizes)
    assert bytes(runs.take(0)) == b"".join(whole[ends[i] - sizes[i] : ends[i]] for i in lanes)


def test_a_damaged_lane_is_named() -> None:
    data = bytearray(frame.pack(blocks(), LAYOUT))
    index = frame.parse_index(data, LAYOUT)
    lanes = np.array([1, 2])
    ((begin, end),) = frame.lane_ranges(index, 1, lanes)
    data[end - 1] ^= 1
    with pytest.raises(CorruptChunk, match="block 1: the checksum of lane 2 is wrong"):
        frame.take_lanes(index, 1, lanes, data[begin:end])
    with pytest.raises(CorruptChunk, match="the index says 43 bytes, there are 42"):
        frame.take_lanes(index, 1, lanes, data[begin : end - 1])


def test_lanes_that_are_not_all_of_a_block_are_corrupt() -> None:
    runs = blocks()
    assert runs.lane_bits is not None
    for change in (-8, 4):
        bits = runs.lane_bits.copy()
        bits[0, 2] += change
        wrong = Runs(runs.payloads, bits, runs.checksums)
        plain = FrameLayout(7, 1, 2, 3, 2)
        index = bytes(frame.pack(wrong, plain))[28 : plain.index_size]
        whole = index + bytes(LAYOUT.index_size - plain.index_size)
        checksum = frame.CHECKSUM.pack(LAYOUT.index_checksum(whole))
        data = LAYOUT.head + checksum + whole + bytes(runs.joined_payload())
        with pytest.raises(CorruptChunk, match=r"longer than the block|no whole bytes"):
            frame.unpack(data, LAYOUT)


def test_joined_blocks_remember_which_lanes_are_there() -> None:
    data = frame.pack(blocks(), LAYOUT)
    index = frame.parse_index(data, LAYOUT)
    ((begin, end),) = frame.lane_ranges(index, 0, np.array([2]))
    some = frame.take_lanes(index, 0, np.array([2]), data[begin:end])
    joined = Runs.joined([frame.unpack(data, LAYOUT), some])
    assert joined.lanes_there is not None
    assert joined.lanes_there.tolist() == [[True] * 3, [True] * 3, [False, False, True]]
