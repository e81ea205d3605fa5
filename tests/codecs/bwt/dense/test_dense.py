"""What effort dense alone has: segments, weights, memory."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import numpy.typing as npt
import pytest
from helpers.bwt_strings import runs
from helpers.fenced_memory import fenced, needs_fences
from reference import bwt_dense as reference

from gangsaw.codecs.bwt.dense import cpu
from gangsaw.codecs.bwt.dense.weights import weights
from gangsaw.codecs.core.errors import CorruptChunk

Octets = npt.NDArray[np.uint8]


def coded(bwt: Octets) -> Octets:
    return np.concatenate(list(cpu.encode_dense_parts(bwt)))


def decoded(data: Octets, n: int) -> bytes:
    out = np.full(n + 16, 173, np.uint8)
    cpu.decode_dense_string(data, out[:n])
    assert (out[n:] == 173).all()
    return out[:n].tobytes()


def many_decisions() -> Octets:
    """More than a segment has steps, in one lane."""
    return np.random.default_rng(5).integers(0, 256, 20500, np.uint8)


def test_segments_follow_one_another() -> None:
    bwt = many_decisions()
    parts = list(cpu.encode_dense_parts(bwt))
    assert len(parts) == 3  # heads and two
    assert decoded(np.concatenate(parts), bwt.size) == bwt.tobytes()


@pytest.mark.full
def test_segments_are_those_of_the_reference() -> None:
    bwt = many_decisions()
    assert reference.encode(bwt.tobytes()) == coded(bwt).tobytes()


def test_weights_are_those_of_the_specification() -> None:
    assert weights().tolist() == reference.WEIGHTS


@needs_fences
@pytest.mark.parametrize("at_end", [False, True])
def test_damaged_bytes_never_touch_other_memory(at_end: bool) -> None:
    rng = np.random.default_rng(4)
    bwt = runs(rng, 1 << 18, 200, 2.0)
    data = coded(bwt)
    place, out = fenced(data, at_end), fenced(bwt, at_end)
    cpu.decode_dense_string(place, out)
    np.testing.assert_array_equal(out, bwt)
    for _ in range(150):
        at = rng.integers(data.size if rng.integers(2) else 900, size=rng.integers(1, 9))
        place[at] ^= rng.integers(1, 256, at.size, np.uint8)
        with suppress(CorruptChunk):
            cpu.decode_dense_string(place, out)
        place[:] = data


def test_two_bytes_get_no_shorter() -> None:
    assert cpu.encode_dense_string(np.array([0, 255], np.uint8), None) is None


def test_scratch_is_as_promised() -> None:
    assert cpu.dense_scratch_bytes(1 << 22) < 16 * (1 << 22)
    assert cpu.dense_scratch_bytes(1) < 4 << 20
