"""Non-temporal stores: the same bytes as an ordinary copy, and none outside them."""

from __future__ import annotations

import numpy as np
import pytest

from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.memory.aligned import LINE, LONG
from gangsaw.codecs.core.numba.nontemporal import UNIT, copy_nontemporal
from gangsaw.codecs.visibility.codec import Visibility
from gangsaw.codecs.visibility.lanes.table import Lanes, memory_of

RANDOM = np.random.default_rng(6).integers(1, 256, 1 << 12, np.uint8)


@pytest.mark.parametrize("first", [0, 1, UNIT - 1, UNIT, UNIT + 1, LINE - UNIT, LINE - 1, LINE])
def test_bytes_are_copied_and_none_beside_them(first: int) -> None:
    room = np.zeros(RANDOM.size + 3 * LINE, np.uint8)
    start = -room.__array_interface__["data"][0] % LINE  # so that places are those of a line
    for n in [*range(3 * LINE), RANDOM.size - 1]:
        room[:] = 0
        target = room[start + first : start + first + n]
        copy_nontemporal(RANDOM[1 : 1 + n], target)
        np.testing.assert_array_equal(target, RANDOM[1 : 1 + n])
        assert not room[: start + first].any()
        assert not room[start + first + n :].any()


def test_a_long_output_holds_what_was_put() -> None:
    output = Output(3, 5)
    output.reserve(LONG)
    for number in (1, 0, 2):
        output.put(number, RANDOM[: 1000 + number])
    assert [bytes(part) for part in output.runs().payloads] == [
        bytes(RANDOM[: 1000 + i]) for i in range(3)
    ]


@pytest.mark.parametrize("offset", [0, 16, 48, 8])
@pytest.mark.parametrize("shape", [(9, 8, 8064), (16, 64, 800), (10, 8, 8066)])
def test_a_long_chunk_is_written_whole_wherever_it_lies(
    shape: tuple[int, int, int], offset: int
) -> None:
    """Memory around the chunk stays as it is; rows of the last shape end anywhere in a line."""
    n_bytes = 8 * shape[0] * shape[1] * shape[2]
    octets = np.random.default_rng(7).integers(0, 256, n_bytes, np.uint8)
    room = np.full(n_bytes + 4 * LINE, 7, np.uint8)
    first = -room.__array_interface__["data"][0] % LINE + LINE + offset
    out = room[first : first + n_bytes].view(np.complex64).reshape(shape)
    coder = Visibility(effort="fast").coder(shape, out.dtype)
    blocks = list(coder.grid.blocks(out))
    ways = {memory_of(Lanes.of_block(b), b.shape, b.strides, 8)[1] for b in blocks}
    assert True in ways
    coder.decode(coder.encode(octets.view(np.complex64).reshape(shape)), out)
    np.testing.assert_array_equal(out.view(np.uint8).ravel(), octets)
    assert (room[:first] == 7).all()
    assert (room[first + n_bytes :] == 7).all()
