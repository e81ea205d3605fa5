"""Lanes of dense blocks on a GPU: the words of the CPU, of any shape, and wrong words."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from emulator.host_module import schedule
from helpers.backends import encoded
from helpers.clean_pool import clean_pool

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.dna import cpu, gpu
from gangsaw.codecs.dna.dense import coding, gpu_coding
from gangsaw.codecs.dna.dense.model.shape import WORD, Shape, shape_of
from gangsaw.codecs.dna.head import HEAD
from gangsaw.codecs.dna.params import MODES, Params
from gangsaw.codecs.dna.payload import DENSE, OLD_DENSE

Bases = npt.NDArray[np.uint8]


def repeats(n: int, seed: int) -> Bases:
    """Random bases of which later ones repeat former ones on both strands, with changes."""
    rng = np.random.default_rng(seed)
    bases = rng.integers(0, 4, n, np.uint8)
    half = n // 2
    for at in range(n // 4, n - 60, 90):
        begin, length = rng.integers(0, max(1, at - 60)), min(60, n - at)
        part = bases[begin : begin + length]
        bases[at : at + part.size] = 3 - part[::-1] if at > half else part
    changed = rng.integers(0, n, n // 30)
    bases[changed] = rng.integers(0, 4, changed.size)
    return bases


# bases and lanes: one alone; two that clash all the time; more than a warp, the last one shorter
SHAPES = [(1, 1), (40, 1), (700, 1), (900, 2), (3000, 5), (5999, 33), (9000, 64)]
ALIKE = np.resize(np.repeat([0, 1], 4), 90).astype(np.uint8)  # 64 such lanes take a weight to 4


def rows(bases: Bases, shape: Shape) -> Bases:
    """The lanes of a block, as they lie in memory."""
    codes = np.zeros((shape.lanes, shape.stride), np.uint8)
    for i, row in enumerate(codes):
        lane = bases[i * shape.steps : (i + 1) * shape.steps]
        row[: lane.size] = lane
    return codes.reshape(-1)


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("enters_first", [False, True])
def test_words_are_those_of_the_cpu(cupy: Any, enters_first: bool) -> None:
    blocks = [repeats(n, n) for n, _ in SHAPES] + [np.tile(ALIKE, 64)]
    sizes = [*SHAPES, (64 * ALIKE.size, 64)]
    shapes = [shape_of(n, lanes, enters_first) for n, lanes in sizes]
    expected = [coding.encode_bases(*one) for one in zip(blocks, shapes, strict=True)]
    given = [rows(*one) for one in zip(blocks, shapes, strict=True)]
    with schedule(seed=3):
        found, (memory, _) = gpu_coding.encode_blocks(shapes, [cupy.asarray(one) for one in given])
    np.testing.assert_array_equal(memory.get(), np.concatenate([own.body for own in expected]))
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(own.bits, other.bits)
        assert own.body.size == other.body.size
    broken = cupy.ones(len(blocks), np.uint32)
    codes = [gpu_coding.new_codes(shape) for shape in shapes]
    words = [
        gpu_coding.LaneWords(own.body.address, np.insert(ends[:-1], 0, 0), ends)
        for own in found
        for ends in [np.cumsum(own.bits) // WORD]
    ]
    held = gpu_coding.decode_blocks(range(len(blocks)), shapes, words, codes, broken)
    assert not broken.get().any()
    del held
    for code, one in zip(codes, given, strict=True):
        np.testing.assert_array_equal(code.get(), one)


def masked(n: int) -> Bases:
    """Text with exceptions and lower case at borders of threads, pieces and lanes."""
    text = np.frombuffer(b"ACGT", np.uint8)[repeats(n, 8)]
    for begin, end in ((0, 5), (15, 17), (4090, 4100), (n // 2, n // 2 + 3), (n - 3, n)):
        text[begin:end] = ord("N")
        text[begin + 200 : end + 240] |= 32
    return text


def test_letters_around_exceptions_are_those_of_the_cpu(cupy: Any) -> None:
    """In two lanes; in one; in none, where there are exceptions alone."""
    blocks = [masked(16_500), masked(4500), np.full(100, ord("n"), np.uint8)]
    params = Params("dense")
    expected = encoded(cpu, blocks, params)
    with schedule(checks=False):
        found = encoded(gpu, [cupy.asarray(block) for block in blocks], params)
    assert [one.tobytes() for one in found.payloads] == [one.tobytes() for one in expected.payloads]
    assert [one[0] for one in found.payloads] == [DENSE] * 3
    np.testing.assert_array_equal(found.lane_bits, expected.lane_bits)
    outs = [cupy.empty(block.size, np.uint8) for block in blocks]
    with schedule(checks=False):
        gpu.BACKEND.decode(expected, outs, params)
    for out, block in zip(outs, blocks, strict=True):
        np.testing.assert_array_equal(out.get(), block)


def test_a_block_of_old_is_decoded(cupy: Any) -> None:
    """Its lanes were coded otherwise, its letters lie as they do now."""
    bases, codes = repeats(4500, 8), np.frombuffer(b"ACGT", np.uint8)
    body = coding.encode_bases(bases, shape_of(bases.size, enters_first=True)).body
    payload = np.append(np.array([OLD_DENSE, 0, 0], "<u4").view(np.uint8), body)
    runs = Runs((payload,), np.array([[8 * body.size]]))
    for backend, out in ((cpu, np.empty(4500, np.uint8)), (gpu, cupy.empty(4500, np.uint8))):
        backend.BACKEND.decode(runs, [out], Params("dense"))
        np.testing.assert_array_equal(cupy.asnumpy(out), codes[bases])


def test_wrong_words_are_corrupt_as_on_the_cpu(cupy: Any) -> None:
    """Flipped bits in words and marks; lanes that give words to another, or have too many."""
    params, rng, wrong = Params("dense"), np.random.default_rng(2), 0
    right = encoded(cpu, [masked(300)], params)
    data, bits = right.payloads[0], right.lane_bits
    assert bits is not None
    for i in range(20):
        payload, lanes = data.copy(), bits.copy()
        at = rng.integers(0 if i % 3 else HEAD.size + bits.sum() // 8, data.size)
        payload[at] ^= 1 << rng.integers(8)
        lanes += [0, 0, 16, -16, 8][i % 5] if i % 7 == 0 else 0
        found = [outcome(*one, Runs((payload,), lanes), params) for one in ((cpu, np), (gpu, cupy))]
        assert found[0] == found[1]
        wrong += found[0] is None
    assert wrong > 15


def outcome(backend: Any, library: Any, runs: Runs, params: Params) -> bytes | None:
    out = library.zeros(300, np.uint8)
    try:
        backend.BACKEND.decode(runs, [out], params)
    except CorruptChunk:
        return None
    return bytes(out.tobytes())


@pytest.mark.parametrize("mode", MODES)
def test_a_block_takes_no_more_of_the_device_than_is_promised(mode: Any, cupy: Any) -> None:
    """Of bases with marks, of marks alone that hardly pay, and of what is stored as it is."""
    params, pool = Params(mode), clean_pool(cupy)
    noise = np.random.default_rng(3).integers(0, 256, 2000, np.uint8)
    marked = np.frombuffer(b"NAnA" * 500, np.uint8), np.frombuffer(b"acccccAC" * 250, np.uint8)
    for text in (masked(2000), *marked, noise):
        expected, block = encoded(cpu, [text], params), cupy.asarray(text)
        out = cupy.empty(text.size, np.uint8)
        pool.set_limit(size=pool.total_bytes() + gpu.encoder_bytes(block, params))
        try:
            found = encoded(gpu, [block], params)
            gpu.BACKEND.decode(expected, [out], params)
        finally:
            pool.set_limit(size=0)
        assert found.payloads[0].tobytes() == expected.payloads[0].tobytes()
        np.testing.assert_array_equal(out.get(), text)
