"""Nucleotides on a GPU beyond the samples: any runs, wrong marks, letters that lie anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from emulator.host_module import schedule
from helpers.backends import encoded
from helpers.gpu_arrays import unaligned
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.dna import cpu, gpu
from gangsaw.codecs.dna.head import HEAD
from gangsaw.codecs.dna.params import Params
from gangsaw.codecs.dna.payload import PACKED, RAW, RUNS

Text = npt.NDArray[np.uint8]
PACK, GENCODEX = Params("pack"), Params("gencodex")
LETTERS = b"ACGTacgtUUuNnR-\n{\xc1"
runs = st.tuples(st.sampled_from(LETTERS), st.sampled_from([1, 1, 2, 3, 4, 8, 12, 36, 300, 5000]))
texts = st.lists(st.lists(runs, min_size=1, max_size=40), min_size=1, max_size=3)


def text_of(pieces: list[tuple[int, int]]) -> Text:
    return np.concatenate([np.full(n, letter, np.uint8) for letter, n in pieces])


def payloads(backend: Any, blocks: list[Any], params: Params) -> list[bytes]:
    return [part.tobytes() for part in encoded(backend, blocks, params).payloads]


@pytest.mark.parametrize("params", [PACK, GENCODEX], ids=lambda params: params.mode)
def test_any_runs_are_as_on_the_cpu(params: Params, cupy: Any) -> None:
    @settings(max_examples=12, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(pieces=texts, seed=st.integers(0, 3))
    def check(pieces: Any, seed: int) -> None:
        blocks = [text_of(own) for own in pieces]
        expected = payloads(cpu, blocks, params)
        with schedule(seed=seed):
            assert payloads(gpu, [cupy.asarray(block) for block in blocks], params) == expected
            outs = [cupy.empty(block.size, np.uint8) for block in blocks]
            gpu.BACKEND.decode(as_runs(expected), outs, params)
        for out, block in zip(outs, blocks, strict=True):
            np.testing.assert_array_equal(out.get(), block)

    check()


def as_runs(data: list[bytes]) -> Runs:
    return Runs(tuple(np.frombuffer(own, np.uint8) for own in data))


def test_runs_of_all_lengths_fill_groups_as_on_the_cpu(cupy: Any) -> None:
    """Those that end at, before and behind 32 lanes, 8 data bytes and 255 fragments."""
    rng = np.random.default_rng(5)
    lengths = [*range(1, 12), 31, 32, 33, 63, 64, 65, 254, 255, 256, 257, 511, 1000]
    repeated = [rng.choice(lengths, n) for n in (3, 30, 90)]
    blocks = [np.repeat(packed_as(rng.integers(0, 4, n.size)), 4 * n) for n in repeated]
    for n in range(4, 45, 4):
        blocks += [blocks[0][:n], np.tile(np.frombuffer(b"ACGT", np.uint8), n)[: 4 * n - 3]]
    expected = payloads(cpu, blocks, GENCODEX)
    assert payloads(gpu, [cupy.asarray(block) for block in blocks], GENCODEX) == expected
    assert {data[0] for data in expected} == {PACKED, RUNS}


def packed_as(codes: npt.NDArray[np.int64]) -> Text:
    return np.frombuffer(b"ACGT", np.uint8)[codes]


def test_letters_may_lie_anywhere(cupy: Any) -> None:
    text = text_of([(65, 30), (110, 40), (71, 10_001)])
    (expected,) = payloads(cpu, [text], PACK)
    assert payloads(gpu, [unaligned(cupy, text)], PACK) == [expected]
    out = cupy.zeros(text.size + 1, np.uint8)[1:]
    gpu.BACKEND.decode(as_runs([expected]), [out], PACK)
    np.testing.assert_array_equal(out.get(), text)


def payload_of(form: int, body: bytes, odd: bytes = b"", low: bytes = b"") -> bytes:
    return HEAD.pack(form, len(odd), len(low)) + body + odd + low


N, FIVE = b"N", b"\x80\x80\x80\x80\x01"
MARKS = {
    "all": (b"\x00\x1fN", b"\x00\x1f"),
    "adjacent": (b"\x00\x00N\x00\x00N", b"\x00\x00\x00\x00"),
    "five bytes": (b"\x80\x80\x80\x80\x00\x00N", b""),
    "padded numbers": (b"\x81\x80\x00\x80\x00N", b"\x81\x80\x00\x80\x00"),
    "six bytes": (b"\x80\x80\x80\x80\x80\x00\x00N", b""),
    "too far": (FIVE + b"\x00N", b""),
    "too long": (b"\x00" + FIVE + b"N", b""),
    "one too long": (b"\x00\x20N", b""),
    "cases too long": (b"", b"\x00\x20"),
    "far, then near": (b"\x00\x1fN\x00\x00N", b""),
    "a base": (b"\x00\x00A", b""),
    "lower case": (b"\x00\x00n", b""),
    "no letter": (b"\x00\x00", b""),
    "no length": (b"\x00\x00N\x00", b""),
    "cases without length": (b"", b"\x00\x00\x00"),
    "an end within a number": (b"", b"\x00\x80"),
    "case of no letter": (b"\x03\x00-", b"\x00\x07"),
    "a high byte": (b"\x03\x00\xff\x02\x00\x80", b"\x01\x01"),
    "letters that are numbers": (b"\x00\x01\x80\x00\x01\xff\x00\x01\x01", b""),
}


RIGHT = {
    "all",
    "adjacent",
    "five bytes",
    "padded numbers",
    "a high byte",
    "letters that are numbers",
}


def test_wrong_marks_are_corrupt_as_on_the_cpu(cupy: Any) -> None:
    bases = b"\x1b" * 8
    corrupt = {
        name
        for name, marks in MARKS.items()
        if assert_alike([payload_of(PACKED, bases, *marks)], 32, cupy)
    }
    assert corrupt == MARKS.keys() - RIGHT


def assert_alike(data: list[bytes], n: int, cupy: Any) -> bool:
    """Both sides decode the same, or neither; return whether these are corrupt."""
    found: list[Any] = []
    for backend, library in ((cpu, np), (gpu, cupy)):
        outs = [library.zeros(n, np.uint8) for _ in data]
        try:
            backend.BACKEND.decode(as_runs(data), outs, PACK)
            found.append([cupy.asnumpy(out).tobytes() for out in outs])
        except CorruptChunk as error:
            found.append(error.block)
    assert found[0] == found[1]
    return not isinstance(found[0], list)


def test_wrong_runs_are_corrupt_as_on_the_cpu(cupy: Any) -> None:
    """Groups with flipped bytes and cut ones; the right block beside them is decoded."""
    rng, wrong = np.random.default_rng(4), 0
    text = np.repeat(packed_as(rng.integers(0, 4, 40)), 4 * rng.integers(1, 5, 40))
    (right,) = payloads(cpu, [text], GENCODEX)
    assert right[0] == RUNS
    for _ in range(60):
        data = bytearray(right)
        at = rng.integers(HEAD.size, len(data))
        data[at] ^= 1 << rng.integers(8)
        if rng.integers(4) == 0:
            del data[at:]
        wrong += assert_alike([right, bytes(data)], text.size, cupy)
    assert 10 < wrong < 55


def test_all_blocks_but_the_wrong_one_are_decoded(cupy: Any) -> None:
    text = text_of([(65, 40), (110, 8)])
    (right,) = payloads(cpu, [text], PACK)
    wrong = right[:-1] + b"\x40"
    outs = [cupy.zeros(text.size, np.uint8) for _ in range(3)]
    with pytest.raises(CorruptChunk, match="marks") as caught:
        gpu.BACKEND.decode(as_runs([right, wrong, right]), outs, PACK)
    assert caught.value.block == 1
    for i in (0, 2):
        np.testing.assert_array_equal(outs[i].get(), text)


def test_noise_is_raw(cupy: Any) -> None:
    text = np.random.default_rng(1).integers(0, 256, 5000, np.uint8)
    (data,) = payloads(gpu, [cupy.asarray(text)], PACK)
    assert data == payload_of(RAW, text.tobytes())
