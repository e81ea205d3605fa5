"""The transform and its inverse on a GPU: the same bytes as on the CPU, the same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.host_module import schedule
from emulator.pools import device_memory
from helpers.gpu_arrays import unaligned
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.bwt.transform.forward import transform, transform_device_bytes
from gangsaw.codecs.bwt.transform.gpu_forward import transform_blocks
from gangsaw.codecs.bwt.transform.gpu_inverse import invert_blocks
from gangsaw.codecs.bwt.transform.gpu_radix import TILE, DeviceTransformed
from gangsaw.codecs.bwt.transform.rows import Transformed, spacing
from gangsaw.codecs.core.arrays import Bytes
from gangsaw.codecs.core.errors import CorruptChunk
from tests.reference import bwt_transform as reference

alphabets = st.sampled_from([b"\x00", b"ab", b"\x00\xff", b"ACGT", bytes(range(256))])
letters = alphabets.flatmap(
    lambda alphabet: st.lists(st.sampled_from(list(alphabet)), max_size=60).map(bytes)
)
repeated = st.tuples(letters, st.integers(1, 9)).map(lambda part: part[0] * part[1])


def on_device(cupy: Any, found: Transformed) -> DeviceTransformed:
    return DeviceTransformed(cupy.asarray(found.bwt), cupy.asarray(found.rows))


def inverted(cupy: Any, found: list[Transformed]) -> tuple[list[bytes], dict[int, CorruptChunk]]:
    outs = [cupy.zeros(one.bwt.size, np.uint8) for one in found]
    errors = invert_blocks([on_device(cupy, one) for one in found], outs)
    return [out.get().tobytes() for out in outs], errors


def check_blocks(cupy: Any, blocks: list[Bytes]) -> None:
    found = transform_blocks([cupy.asarray(block) for block in blocks])
    expected = [transform(block) for block in blocks]
    for one, other in zip(found, expected, strict=True):
        assert one.bwt.get().tobytes() == other.bwt.tobytes()
        assert one.rows.get().tolist() == other.rows.tolist()
    assert inverted(cupy, expected) == ([block.tobytes() for block in blocks], {})


def test_any_bytes_are_as_on_the_cpu(cupy: Any) -> None:
    @settings(max_examples=25, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(parts=st.lists(letters | repeated, min_size=1, max_size=4), seed=st.integers(0, 3))
    @example(parts=[b""], seed=0)
    @example(parts=[b"\x00" * 9, b"", b"\x00", b"a\x00" * 20], seed=1)
    def check(parts: list[bytes], seed: int) -> None:
        with schedule(seed=seed):
            check_blocks(cupy, [np.frombuffer(part, np.uint8) for part in parts])

    check()


@pytest.mark.parametrize("n", [TILE - 1, TILE, TILE + 1, 3 * TILE + 5])
def test_blocks_of_several_tiles(cupy: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    text = np.frombuffer(b"the cat sat on the mat; ", np.uint8)
    blocks = [rng.integers(0, 2, n, np.uint8), np.resize(text, n // 2), np.zeros(900, np.uint8)]
    check_blocks(cupy, blocks)


def test_blocks_of_several_rows(cupy: Any) -> None:
    check_blocks(cupy, [np.random.default_rng(1).integers(0, 256, 2 * spacing(1) + 9, np.uint8)])


@pytest.mark.parametrize("sizes", [(3 * TILE,), (2 * TILE, 5, 100)])
def test_device_room_holds_what_either_direction_takes(cupy: Any, sizes: tuple[int, ...]) -> None:
    blocks = [cupy.zeros(n, np.uint8) for n in sizes]
    with device_memory.of(1 << 30) as memory:
        before = memory.peak
        found = transform_blocks(blocks)
        invert_blocks(found, blocks)
        assert memory.peak - before <= transform_device_bytes(max(sizes), len(sizes))


def test_blocks_lie_anywhere(cupy: Any) -> None:
    block = np.frombuffer(b"SIX.MIXED.PIXIES.SIFT.SIXTY.PIXIE.DUST.BOXES", np.uint8)
    found, expected = transform_blocks([unaligned(cupy, block)])[0], transform(block)
    assert found.bwt.get().tobytes() == expected.bwt.tobytes()
    out = unaligned(cupy, np.zeros(block.size, np.uint8))
    moved = DeviceTransformed(unaligned(cupy, expected.bwt), found.rows)
    assert invert_blocks([moved], [out]) == {}
    assert out.get().tobytes() == block.tobytes()


def test_only_wrong_blocks_are_refused(cupy: Any) -> None:
    good = transform(np.frombuffer(b"abracadabra", np.uint8))
    rows = [good.rows, *(np.array([row], np.uint32) for row in (0, 12, 1 << 24, (1 << 32) - 1))]
    rows += [good.rows]
    wrong = Transformed(np.zeros(4, np.uint8), np.array([2], np.uint32))
    blocks, errors = inverted(cupy, [*(Transformed(good.bwt, own) for own in rows), wrong])
    assert blocks[0] == blocks[5] == b"abracadabra"
    assert {i: str(error)[:5] for i, error in errors.items()} == dict.fromkeys(
        range(1, 5), "a row"
    ) | {6: "a cha"}


def test_rows_that_do_not_lead_to_one_another(cupy: Any) -> None:
    block = np.random.default_rng(5).integers(97, 101, 2 * spacing(1), np.uint8)
    found = transform(block)
    rows = np.array([found.rows[0], found.rows[1] % block.size + 1], np.uint32)
    assert inverted(cupy, [Transformed(found.bwt, rows)])[1].keys() == {0}


def test_bytes_are_refused_unless_they_are_a_transform(cupy: Any) -> None:
    texts = [np.base_repr(i, 3).zfill(4).encode() for i in range(3**4)]
    there = {(bwt, rows[0]) for bwt, rows in map(reference.transformed, texts)}
    given_ = [(text, row) for text in texts for row in range(1, 5)]
    found = [
        Transformed(np.frombuffer(text, np.uint8), np.array([row], np.uint32))
        for text, row in given_
    ]
    errors = inverted(cupy, found)[1]
    assert {pair for i, pair in enumerate(given_) if i not in errors} == there
