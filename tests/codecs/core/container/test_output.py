"""Outputs: payloads in order, summed, whichever comes first."""

from __future__ import annotations

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.frame import FrameLayout
from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs


@given(
    st.lists(st.binary(max_size=9), max_size=8),
    st.randoms(),
    st.sampled_from([None, -40, -5, -1, 0, 1000]),
)
def test_a_frame_is_the_same_in_whichever_order_blocks_are_put(
    texts: list[bytes], random: object, spare: int | None
) -> None:
    """And whether nothing, too little, just what they take or more is reserved for them."""
    layout = FrameLayout(7, 1, len(texts))
    output = Output(len(texts), layout.index_size)
    if spare is not None:
        output.reserve(max(0, sum(map(len, texts)) + spare))
    numbers = list(range(len(texts)))
    random.shuffle(numbers)  # type: ignore[attr-defined]
    scratch = np.empty(9, np.uint8)  # used again for each, as encoders do
    for number in numbers:
        text = texts[number]
        scratch[: len(text)] = np.frombuffer(text, np.uint8)
        cut = len(text) // 2
        output.put(number, scratch[:cut], scratch[cut : len(text)])
    runs = output.runs()
    plain = Runs(tuple(np.frombuffer(text, np.uint8) for text in texts))
    assert [bytes(part) for part in runs.payloads] == texts
    assert list(output.checksums) == [google_crc32c.value(text) for text in texts]
    (packed,) = frame.frames_of(output, layout) if texts else [frame.pack(plain, layout)]
    assert bytes(packed) == bytes(frame.pack(runs, layout)) == bytes(frame.pack(plain, layout))


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=8), st.randoms())
def test_runs_lie_in_their_order_whether_written_there_or_not(
    texts: list[bytes], random: object
) -> None:
    runs = [(i, texts[i : i + 2]) for i in range(0, len(texts), 2)]
    random.shuffle(runs)  # type: ignore[attr-defined]
    output = Output(len(texts), 3)
    output.reserve(sum(map(len, texts)))
    for first, some in runs:
        data = np.frombuffer(b"".join(some), np.uint8)
        ends = np.cumsum([len(text) for text in some]).tolist()
        sums = [google_crc32c.value(text) for text in some]
        room = output.free_buffer(first)
        if room is None:
            assert not output.put_run(first, data, ends, sums)
        else:
            room[: data.size] = data
            output.settle(first, ends, sums)
    assert [bytes(part) for part in output.runs().payloads] == texts
    assert list(output.checksums) == [google_crc32c.value(text) for text in texts]
    assert output.data is not None
    assert bytes(output.data[3 : output.end]) == b"".join(texts)


def test_what_has_no_room_lies_apart() -> None:
    layout, texts = FrameLayout(7, 1, 3), [b"first", b"second", b"third"]
    output = Output(3, layout.index_size)
    output.reserve(6)
    plain = [np.frombuffer(text, np.uint8) for text in texts]
    assert output.put_run(0, plain[0], [5], None)
    assert output.free_buffer(1, 2) is None
    room = output.free_buffer(1, 1)
    assert room is not None
    assert room.size == 1
    assert not output.put_run(2, plain[2], [5], None)
    assert not output.put_run(1, plain[1], [6], None)
    (packed,) = frame.frames_of(output, layout)
    assert bytes(packed) == bytes(frame.pack(Runs(tuple(plain)), layout))


def test_frames_of_several_chunks_are_those_of_each() -> None:
    layout, texts = FrameLayout(7, 1, 2), [b"one", b"three", b"", b"four"]
    output, plain = Output(4, layout.index_size), [np.frombuffer(t, np.uint8) for t in texts]
    output.reserve(12)
    for number in (3, 1, 0, 2):
        output.put(number, plain[number])
    alone = [frame.pack(Runs(tuple(plain[i : i + 2])), layout) for i in (0, 2)]
    assert [bytes(f) for f in frame.frames_of(output, layout)] == [bytes(f) for f in alone]


@pytest.mark.parametrize("which", [slice(0, 1), slice(1, 2)])
def test_some_blocks_of_an_output_are_packed_without_it(which: slice) -> None:
    output = Output(2, FrameLayout(7, 1, 2).index_size)
    output.reserve(6)
    for number in (1, 0):
        output.put(number, np.full(3, number, np.uint8))
    data = frame.pack(output.runs()[which], FrameLayout(7, 1, 1))
    assert bytes(data[-3:]) == bytes([which.start] * 3)


def test_a_block_that_was_not_put_is_noticed() -> None:
    for most in (None, 9):
        output = Output(2)
        if most:
            output.reserve(most)
        output.put(1, np.zeros(3, np.uint8))
        with pytest.raises(AssertionError, match="not been put"):
            output.runs()


def test_payloads_that_are_given_keep_their_lanes() -> None:
    output = Output(2)
    output.give(1, np.zeros(3, np.uint8), None, np.array([8]))
    output.give(0, np.ones(2, np.uint8), google_crc32c.value(b"\1\1"), np.array([4, 12]))
    runs = output.runs()
    assert runs.checksums is None  # one is to be taken yet
    assert runs.lane_bits is not None
    assert runs.lane_bits.tolist() == [[4, 12], [8, 0]]
    assert [part.size for part in runs.payloads] == [2, 3]
