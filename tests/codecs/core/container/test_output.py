"""Shelves: payloads in order, summed, whichever comes first."""

from __future__ import annotations

import google_crc32c
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.blocks import Blocks
from gangsaw.codecs.core.container.frame import Layout
from gangsaw.codecs.core.container.output import Shelf


@given(st.lists(st.binary(max_size=9), max_size=8), st.randoms(), st.booleans())
def test_a_frame_is_the_same_in_whichever_order_blocks_are_put(
    texts: list[bytes], random: object, is_tight: bool
) -> None:
    layout = Layout(7, 1, len(texts))
    most = sum(map(len, texts)) + (0 if is_tight else 1000)
    shelf = Shelf(len(texts), most, layout.index_size)
    numbers = list(range(len(texts)))
    random.shuffle(numbers)  # type: ignore[attr-defined]
    scratch = np.empty(9, np.uint8)  # used again for each, as encoders do
    for number in numbers:
        text = texts[number]
        scratch[: len(text)] = np.frombuffer(text, np.uint8)
        cut = len(text) // 2
        shelf.put(number, scratch[:cut], scratch[cut : len(text)])
    blocks = Blocks(shelf.parts, shelf=shelf, checksums=shelf.checksums)
    plain = Blocks(tuple(np.frombuffer(text, np.uint8) for text in texts))
    assert [bytes(part) for part in blocks.parts] == texts
    assert list(shelf.checksums) == [google_crc32c.value(text) for text in texts]
    assert bytes(frame.pack(blocks, layout)) == bytes(frame.pack(plain, layout))


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=8), st.randoms())
def test_runs_lie_in_their_order_whether_written_there_or_not(
    texts: list[bytes], random: object
) -> None:
    runs = [(i, texts[i : i + 2]) for i in range(0, len(texts), 2)]
    random.shuffle(runs)  # type: ignore[attr-defined]
    shelf = Shelf(len(texts), sum(map(len, texts)), 3)
    for first, some in runs:
        data = np.frombuffer(b"".join(some), np.uint8)
        ends = np.cumsum([len(text) for text in some]).tolist()
        sums = [google_crc32c.value(text) for text in some]
        room = shelf.room(first)
        if room is None:
            assert not shelf.put_run(first, data, ends, sums)
        else:
            room[: data.size] = data
            shelf.settle(first, ends, sums)
    assert [bytes(part) for part in shelf.parts] == texts
    assert list(shelf.checksums) == [google_crc32c.value(text) for text in texts]
    assert bytes(shelf.data[3 : shelf.end]) == b"".join(texts)


@pytest.mark.parametrize("which", [slice(0, 1), slice(1, 2)])
def test_some_blocks_of_a_shelf_are_packed_without_it(which: slice) -> None:
    layout = Layout(7, 1, 2)
    shelf = Shelf(2, 6, layout.index_size)
    for number in (1, 0):
        shelf.put(number, np.full(3, number, np.uint8))
    some = Blocks(shelf.parts, shelf=shelf, checksums=shelf.checksums)[which]
    data = frame.pack(some, Layout(7, 1, 1))
    assert bytes(data[-3:]) == bytes([which.start] * 3)
