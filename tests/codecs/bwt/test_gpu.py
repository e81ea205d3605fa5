"""Blocks of several kinds on a GPU: which are decoded there, in what memory, and what is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.pools import device_memory
from helpers.bwt_strings import runs

from gangsaw.codecs.bwt import cpu, gpu, payload
from gangsaw.codecs.bwt.codec import Bwt
from gangsaw.codecs.bwt.memory import decoder_device_bytes, encoder_device_bytes
from gangsaw.codecs.bwt.params import EFFORTS, Params
from gangsaw.codecs.bwt.payload import DENSE
from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.backends.batch import EncodedBlock

PARAMS = Params()
DENSE_DECODER = gpu.BACKEND.decoders[DENSE]
NO_ROOM = np.empty(0, np.uint8)


def text(n: int, seed: int = 1) -> NumpyArray:
    return runs(np.random.default_rng(seed), n, 60, 40.0)


def encoded(block: NumpyArray) -> NumpyArray:
    return cpu.encode_block(block, PARAMS, NO_ROOM).payload


def decode(cupy: Any, payloads: list[NumpyArray], n: int) -> tuple[list[NumpyArray], Any]:
    outs = [cupy.zeros(n, np.uint8) for _ in payloads]
    errors = DENSE_DECODER.decode_all([EncodedBlock(own) for own in payloads], outs, PARAMS)
    return [out.get() for out in outs], errors


def test_blocks_that_are_dense_or_raw_come_back(cupy: Any) -> None:
    codec = Bwt(block=1 << 11)
    noise = np.random.default_rng(2).integers(0, 256, 1 << 11, np.uint8)
    array = np.concatenate((text(5000), noise, text(5000, 3)))
    data, out = codec.encode_chunk(array), cupy.zeros(2 * array.size, np.uint8)[::2]
    codec.decode_chunk(data, out)
    np.testing.assert_array_equal(out.get(), array)


def test_each_wrong_block_is_told_by_its_stage(cupy: Any) -> None:
    block = text(3000)
    good = encoded(block)
    of_rows, of_words = good.copy(), good.copy()
    of_rows[1:4] = 255
    of_words[-1] ^= 255
    found, errors = decode(cupy, [good[:2], good, of_rows, of_words, good], block.size)
    assert {i: error.reason for i, error in errors.items()} == {
        0: "it ends before the rows of its transform do",
        2: "a row lies outside of the transform",
        3: "its words are wrong",
    }
    for i in (1, 4):
        np.testing.assert_array_equal(found[i], block)


def test_no_block_is_right(cupy: Any) -> None:
    block = text(300)
    good = encoded(block)
    assert decode(cupy, [good[:1]], block.size)[1].keys() == {0}
    assert decode(cupy, [good[:-1], good[:-2]], block.size)[1].keys() == {0, 1}


@pytest.mark.parametrize("n", [100, 40000])
def test_device_memory_is_as_promised(cupy: Any, n: int) -> None:
    block = text(n)
    payloads = [EncodedBlock(encoded(block))] * 3
    outs = [cupy.empty(n, np.uint8) for _ in payloads]
    with device_memory.of(1 << 30) as memory:
        before = memory.peak
        assert DENSE_DECODER.decode_all(payloads, outs, PARAMS) == {}
        assert memory.peak - before <= 3 * decoder_device_bytes(payloads[0].data.size, n, "dense")


@pytest.mark.parametrize("effort", EFFORTS)
def test_whole_chunks_are_coded_on_the_device(
    effort: Any, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of text, of noise, of one byte; the host has no entropy stage meanwhile."""
    noise = np.random.default_rng(2).integers(0, 256, 1 << 11, np.uint8)
    array = np.concatenate((text(3000)[: 1 << 11], noise, text(3000, 3)[: 1 << 11], noise[:1]))
    codec = Bwt(block=1 << 11, effort=effort)
    expected = bytes(codec.encode_chunk(array))
    monkeypatch.setattr(payload, "STAGES", {})
    assert bytes(codec.encode_chunk(cupy.asarray(array))) == expected
    out = cupy.zeros(array.size, np.uint8)
    codec.decode_chunk(expected, out)
    np.testing.assert_array_equal(out.get(), array)


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("n", [1, 3000])
def test_device_memory_of_encoders_is_as_promised(effort: Any, n: int, cupy: Any) -> None:
    params = Params(effort=effort)
    sources = [cupy.asarray(text(n, seed)) for seed in (1, 2)]
    with device_memory.of(1 << 30) as memory:
        before = memory.peak
        gpu.BACKEND.encoders[cpu.KIND_OF_EFFORT[effort]].encode(sources, params)
        assert memory.peak - before <= 2 * encoder_device_bytes(n, effort)
