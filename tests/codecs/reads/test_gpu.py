"""Reads on a GPU beyond the samples: parts of blocks, all sorts of layouts, wrong lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zarr
from emulator.host_module import schedule
from helpers.backends import encoded_block
from helpers.counting_store import CountingStore
from helpers.every_codec import coder, gpu_cases
from helpers.read_layouts import Recipe, made, recipes
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs import Reads
from gangsaw.codecs.core.container import frame
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.reads import cpu, gpu
from gangsaw.codecs.reads.cpu import CODINGS
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import CODED, HEAD
from gangsaw.codecs.reads.sequence.dictionary import SIZES

CASES = [case for case in gpu_cases() if case.codec_type is Reads]
FORGED = [
    "offset-lengths",
    "quality-equal",
    "name-uuid",
    "sequence-pieces",
    "sequence-sorted-pairs",
]
PARTS = ["offset-lengths", "quality-any-length", "name-illumina", "sequence-long"]
named = {case.sample.name: case for case in CASES}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_as_in_the_whole(name: str, cupy: Any) -> None:
    """Some lanes are there, the windows of others stay unwritten."""
    case, rng = named[name], np.random.default_rng(2)
    options: dict[str, Any] = {"shape": case.array.shape, "chunks": case.array.shape}
    array = zarr.create_array(
        CountingStore(), serializer=case.codec, compressors=None, dtype=case.array.dtype, **options
    )
    array[:] = case.array
    with zarr.config.enable_gpu():
        for begin in rng.integers(0, case.array.size, 4).tolist():
            part = slice(begin, begin + 40)
            np.testing.assert_array_equal(array[part].get(), case.array[part])


def test_every_layout_is_decoded(cupy: Any) -> None:
    @settings(max_examples=15, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(recipe=recipes, seed=st.integers(0, 3))
    def check(recipe: Any, seed: int) -> None:
        case = made(recipe)
        data, bits = case.payload()
        out = cupy.empty(case.block.size, np.uint8)
        with schedule(seed=seed, checks=recipe.size < 1 << 16):
            gpu.BACKEND.decode(Runs((data,), bits[None]), [out], case.params)
        np.testing.assert_array_equal(out.get(), case.block)

    check()


def wrong_lanes(blocks: Runs, rng: np.random.Generator) -> Runs:
    """One fault: a byte of a window is another, or bytes go from one window's lane to the next."""
    payload, lanes = blocks.joined_payload().copy(), blocks.lane_bits
    assert lanes is not None
    lanes = lanes.copy()
    if rng.random() < 0.8:
        payload[rng.integers(int(lanes[0, :2].sum()) // 8, payload.size)] ^= rng.integers(1, 256)
    else:
        giver = int(rng.choice(2 + np.flatnonzero(lanes[0, 2:])))
        taker = giver + 1 if giver + 1 < lanes.shape[1] else giver - 1
        n = 8 * int(rng.integers(1, 1 + lanes[0, giver] // 8))
        lanes[0, giver] -= n
        lanes[0, taker] += n
    return Runs.back_to_back(payload, blocks.lengths, lanes)


@pytest.mark.parametrize("name", FORGED)
def test_wrong_lanes_are_corrupt_and_meet_nowhere(name: str, cupy: Any) -> None:
    """In any order of threads: two that write to one byte would be a fault of the kernel."""
    case, rng = named[name], np.random.default_rng(8)
    plan = coder(case)
    blocks = frame.unpack(case.encode(), plan.layout)
    outcomes = []
    for seed in range(12):
        data = frame.pack(wrong_lanes(blocks, rng), plan.layout)
        with schedule(seed=seed):
            found = [refuses(case, data, library) for library in (np, cupy)]
        assert found[0] == found[1]
        assert found[0] or (case.decode(data) != case.array).any()  # other digits are other text
        outcomes.append(found[0])
    assert any(outcomes)


def test_damaged_columns_are_corrupt_as_on_the_cpu(cupy: Any) -> None:
    """Among them second letters that are those of the consensus, which kernels compare."""
    case = made(Recipe(4, 300, 300, 50, 3, 0.05, 0.02, 0.3, False, False, False, 4096))
    data, bits = case.payload()
    first = HEAD.size + SIZES.size
    reasons = []
    for bit in range(8 * first, 8 * first + 24):
        wrong, out = data.copy(), cupy.zeros(case.block.size, np.uint8)
        wrong[bit // 8] ^= 1 << bit % 8
        try:
            cpu.BACKEND.decode(Runs((wrong,), bits[None]), [out.get()], case.params)
        except CorruptChunk as error:
            reasons.append(error.reason)
            with pytest.raises(CorruptChunk):
                gpu.BACKEND.decode(Runs((wrong,), bits[None]), [out], case.params)
        else:
            gpu.BACKEND.decode(Runs((wrong,), bits[None]), [out], case.params)
    assert "the second base of a column equals its first" in reasons


LINES = {"sequence": b"ACGTTGCA\n", "quality": b"IIIHHGGF\n", "name": b"read.1/1\n"}


@pytest.mark.parametrize("kind", LINES)
def test_lines_begin_in_their_window(kind: str, cupy: Any) -> None:
    """The lane of a wide window is none of a narrow one; a block of names has no flags."""
    wide, narrow = (Params(kind=kind, lane=lane) for lane in (2048, 64))
    block = np.frombuffer(LINES[kind] * 200, np.uint8)
    data, bits = encoded_block(CODINGS[kind], block, wide)
    assert data[0] == CODED
    more = np.append(bits, np.zeros(-(-block.size // 64) - 1, np.int64))
    flagged = np.append(data[:1] | 128, data[1:])  # the last flag, which no kind has
    for payload, lanes, params in ((data, more, narrow), (flagged, bits, wide)):
        for backend, library in ((cpu, np), (gpu, cupy)):
            out = library.zeros(block.size, np.uint8)
            backend.BACKEND.decode(Runs((data,), bits[None]), [out], wide)
            with pytest.raises(CorruptChunk):
                backend.BACKEND.decode(Runs((payload,), lanes[None]), [out], params)


def refuses(case: Any, data: bytes, library: Any) -> bool:
    try:
        np.testing.assert_array_equal(case.decode(data, library), case.decode(data))
    except CorruptChunk:
        return True
    return False
