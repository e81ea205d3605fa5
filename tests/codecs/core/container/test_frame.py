"""The frame: what it packs comes back, and damaged bytes never pass."""

from __future__ import annotations

import re
from pathlib import Path

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.frame import FrameLayout
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, NewerFormat


def sample(n_blocks: int, n_lanes: int, seed: int = 0) -> tuple[Runs, FrameLayout]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 40, n_blocks)
    lanes = None
    if n_lanes:
        lanes = rng.integers(0, 8 * lengths[:, None] // n_lanes + 1, (n_blocks, n_lanes))
    blocks = Runs.back_to_back(rng.integers(0, 256, lengths.sum(), np.uint8), lengths, lanes)
    return blocks, FrameLayout(7, 1, n_blocks, n_lanes, 2 if n_lanes else 0)


@given(st.integers(0, 9), st.integers(0, 5), st.integers(0, 99))
def test_round_trip(n_blocks: int, n_lanes: int, seed: int) -> None:
    blocks, layout = sample(n_blocks, n_lanes, seed)
    data = frame.pack(blocks, layout)
    assert len(data) == layout.index_size + len(blocks.joined_payload())
    for form in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
        back = frame.unpack(form, layout)
        np.testing.assert_array_equal(back.joined_payload(), blocks.joined_payload())
        np.testing.assert_array_equal(back.lengths, blocks.lengths)
        if n_lanes:
            np.testing.assert_array_equal(back.lane_bits, blocks.lane_bits)
        else:
            assert back.lane_bits is None


def test_the_bytes_are_those_of_the_specification() -> None:
    """Written out by hand from SPEC.md; `frame` had no part in it."""
    payload = np.arange(5, dtype=np.uint8)
    lanes = np.array([[3, 4], [9, 0x0102]])
    blocks = Runs.back_to_back(np.tile(payload, 60), np.array([5, 295]), lanes)
    prelude = b"GSAW\x01\x03\x34\x12\x02\0\0\0"
    head = prelude + google_crc32c.value(prelude).to_bytes(4, "little") + b"\x02\0\0\0\x02\0\0\0"
    index = b"\x05\0\0\0\x27\x01\0\0"
    for part in (blocks.joined_payload()[:5], blocks.joined_payload()[5:]):
        index += google_crc32c.value(part.tobytes()).to_bytes(4, "little")
    index += b"\x03\0\x04\0\x09\0\x02\x01"
    checksum = google_crc32c.value(head + index).to_bytes(4, "little")
    expected = head + checksum + index + blocks.joined_payload().tobytes()
    assert frame.pack(blocks, FrameLayout(0x1234, 3, 2, 2, 2)) == expected


@pytest.mark.parametrize(("n_blocks", "n_lanes"), [(0, 0), (3, 0), (4, 3)])
def test_every_truncation_and_extension_is_corrupt(n_blocks: int, n_lanes: int) -> None:
    blocks, layout = sample(n_blocks, n_lanes)
    data = frame.pack(blocks, layout)
    for size in range(len(data)):
        with pytest.raises(CorruptChunk):
            frame.unpack(data[:size], layout).verified()
    with pytest.raises(CorruptChunk):
        frame.unpack(bytes(data) + b"\0", layout)


def test_every_flipped_bit_is_corrupt() -> None:
    blocks, layout = sample(4, 3)
    data = frame.pack(blocks, layout)
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(CorruptChunk):
            frame.unpack(damaged, layout).verified()


def forged(layout: FrameLayout, change: dict[int, bytes], size: int | None = None) -> bytes:
    """A frame changed on purpose, with checksums that hold again."""
    data = bytearray(frame.pack(sample(4, 3)[0], sample(4, 3)[1]))
    for at, new in change.items():
        data[at : at + len(new)] = new
    data[12:16] = google_crc32c.value(bytes(data[:12])).to_bytes(4, "little")
    checked = bytes(data[:24] + data[28 : layout.index_size])
    data[24:28] = google_crc32c.value(checked).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.parametrize(
    ("change", "error", "reason"),
    [
        ({4: b"\x03"}, NewerFormat, "upgrade"),
        ({5: b"\x02"}, NewerFormat, "upgrade"),
        ({4: b"\x00"}, CorruptChunk, "format version"),
        ({5: b"\x00"}, CorruptChunk, "codec version"),
        ({6: b"\x08"}, CorruptChunk, "codec id is 8"),
        ({8: b"\xff\xff\xff\xff"}, CorruptChunk, "number of blocks is 4294967295"),
        ({16: b"\xff\xff\xff\xff"}, CorruptChunk, "lanes"),
        ({20: b"\x08"}, CorruptChunk, "lanes"),
        ({22: b"\x01"}, CorruptChunk, "reserved"),
        ({28: b"\xff\xff\xff\xff"}, CorruptChunk, "bytes"),
        ({60: b"\xff\xff"}, CorruptChunk, "block 0: the lanes"),
    ],
)
def test_forged_fields_are_named(change: dict[int, bytes], error: type, reason: str) -> None:
    layout = sample(4, 3)[1]
    with pytest.raises(error, match=re.escape(reason)):
        frame.unpack(forged(layout, change), layout)


def test_lanes_whose_sum_wraps_are_corrupt() -> None:
    blocks = Runs.back_to_back(np.zeros(4, np.uint8), np.array([4]), np.zeros((1, 2), np.int64))
    layout = FrameLayout(7, 1, 1, 2, 8)
    data = bytearray(frame.pack(blocks, layout))
    data[36:52] = (1 << 63).to_bytes(8, "little") * 2
    checksum = google_crc32c.value(bytes(data[:24] + data[28:52]))
    data[24:28] = checksum.to_bytes(4, "little")
    with pytest.raises(CorruptChunk, match="lanes"):
        frame.unpack(data, layout)


def test_a_block_of_4_gib_is_refused() -> None:
    huge = Runs((np.broadcast_to(np.uint8(0), 1 << 32),))
    with pytest.raises(BadParams, match="smaller block"):
        frame.pack(huge, FrameLayout(7, 1, 1))


def test_the_specification_names_what_the_module_has() -> None:
    text = (Path(__file__).parents[4] / "codecs/core/SPEC.md").read_text()
    assert f"header ({frame.HEADER_BYTES} bytes)" in text
    assert f"[8] version | {frame.VERSION};" in text
    assert f"`{frame.MAGIC.decode()}`" in text


def test_index_cost_at_the_default_block_size() -> None:
    """224 bands x 128 x 256: under 0.5 % of the bytes even at 1 bit/sample, the coder's least."""
    longest = 128 * 256 * (18 + 16)
    layout = FrameLayout(1, 1, 12, 224, frame.lane_bytes(longest))
    assert layout.index_size < 0.005 * 12 * 224 * 128 * 256 / 8
