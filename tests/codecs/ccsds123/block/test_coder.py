"""The block-adaptive coder on sequences, against the slow reference and against damage."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from reference.ccsds123_coders import BlockEncoder
from reference.ccsds123_header import BitWriter, Setup

from gangsaw.codecs.ccsds123 import Params
from gangsaw.codecs.ccsds123.block import coder as block_coder
from gangsaw.codecs.core.errors import CorruptChunk

DEPTHS = (2, 3, 4, 5, 8, 9, 16, 17, 32)


def sequences(depth: int, seed: int) -> list[npt.NDArray[np.uint32]]:
    """Noise, geometric, rare ones, and blocks of all sizes between zeros."""
    rng = np.random.default_rng([depth, seed])
    n, top = int(rng.integers(1, 2500)), 2**depth - 1
    sizes = (2 ** (rng.random(n) * depth)).astype(np.int64) - 1
    out = [
        rng.integers(0, top + 1, n),
        rng.geometric(0.3, n) - 1,
        rng.random(n) < 0.002,
        sizes * np.repeat(rng.random(n // 8 + 1) < 0.5, 8)[:n],
        rng.geometric(0.001 + 0.2 * rng.random(), n) - 1,
        np.zeros(n),
    ]
    return [np.minimum(values, top).astype(np.uint32) for values in out]


def reference_bits(values: npt.NDArray[np.uint32], depth: int, params: Params) -> tuple[bytes, int]:
    setup = Setup(1, 1, values.size, d=depth, block_adaptive=True, restricted=params.restricted)
    setup.j, setup.r = params.samples_per_block, params.reference_interval
    out = BitWriter()
    encoder = BlockEncoder(setup, out)
    for value in values.tolist():
        encoder.put(0, 0, value)
    encoder.finish()
    length = out.length
    return out.to_bytes(1), length


def decoded_whole(
    data: npt.NDArray[np.uint8], n_residuals: int, depth: int, params: Params
) -> tuple[npt.NDArray[np.uint32], int]:
    """Return all residuals in one array, and the bits read."""
    parts = block_coder.decoded_parts(data, n_residuals, depth, params)
    found = [(values.copy(), n_bits) for values, n_bits in parts]
    return np.concatenate([values for values, _ in found]), found[-1][1]


@pytest.mark.parametrize("interval", [1, 3, 64, 100, 4096])
@pytest.mark.parametrize("size", [8, 16, 32, 64])
def test_same_bits_as_the_reference(size: int, interval: int) -> None:
    for depth, restricted in itertools.product(DEPTHS, (False, True)):
        if restricted and depth > 4:
            continue
        params = Params(samples_per_block=size, reference_interval=interval, restricted=restricted)
        for values in sequences(depth, size + interval):
            data, n_bits = block_coder.encode_residuals(values, depth, params)
            assert (data.tobytes(), n_bits) == reference_bits(values, depth, params)
            decoded, n_read = decoded_whole(data, values.size, depth, params)
            assert n_read == n_bits
            np.testing.assert_array_equal(decoded, values)
            assert block_coder.least_bits(values.size, depth, params) <= n_bits


def test_least_bits_is_reached_by_zeros() -> None:
    for size, interval, n in itertools.product((8, 64), (1, 4, 63, 64, 65, 130), (1, 600, 9000)):
        params = Params(samples_per_block=size, reference_interval=interval)
        _, n_bits = block_coder.encode_residuals(np.zeros(n, np.uint32), 12, params)
        assert block_coder.least_bits(n, 12, params) == n_bits


@pytest.mark.parametrize("depth", DEPTHS)
def test_damage_is_refused_or_stays_in_range(depth: int) -> None:
    params, rng = Params(), np.random.default_rng(depth)
    values = sequences(depth, 99)[3]
    data, _ = block_coder.encode_residuals(values, depth, params)
    for _ in range(1000):
        damaged = data.copy()
        damaged[rng.integers(data.size)] ^= 1 << rng.integers(8)
        try:
            decoded, _ = decoded_whole(damaged, values.size, depth, params)
        except CorruptChunk:
            continue
        assert decoded.max() < 1 << depth


def test_every_truncation_is_corrupt() -> None:
    values = sequences(9, 5)[4]
    data, _ = block_coder.encode_residuals(values, 9, Params())
    for length in range(data.size):
        with pytest.raises(CorruptChunk):
            decoded_whole(data[:length], values.size, 9, Params())


@pytest.mark.parametrize(
    ("bits", "reason"),
    [
        ("0000" + "0" * 8 + "1", "exceeds its segment"),  # 8 zero blocks, 4 are left
        ("0001" + "0" * 600 + "1" + "1" * 15, "exceeds the bit depth"),
        ("1110" + "1" * 16 + "1" * 13 * 16, "exceeds the bit depth"),  # k = 13 of 9 bits
        ("0000" + "1" + "0" * 600, "within a coded block"),
        ("1111" + "1" * 50, "within a coded block"),
    ],
)
def test_codes_that_no_encoder_writes(bits: str, reason: str) -> None:
    padded = bits + "0" * (-len(bits) % 8)
    data = np.frombuffer(int(padded, 2).to_bytes(len(padded) // 8, "big"), np.uint8)
    with pytest.raises(CorruptChunk, match=reason):
        decoded_whole(data, 64, 9, Params())
