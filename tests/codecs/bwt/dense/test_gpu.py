"""Effort dense on a GPU: the same bytes as on the CPU, the same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from emulator.host_module import schedule
from emulator.pools import device_memory
from helpers.bwt_gpu import check_decoding, check_encoding
from helpers.bwt_strings import corner_cases, runs, strings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gangsaw.codecs.bwt.dense import cpu
from gangsaw.codecs.bwt.dense.device.gpu_decode import decode_dense_blocks
from gangsaw.codecs.bwt.dense.device.gpu_encode import encode_dense_blocks

Octets = npt.NDArray[np.uint8]
CASES = corner_cases()
LONG = 6000  # bytes that an emulated kernel decodes in a second or so


def coded(bwt: Octets) -> Octets:
    return np.concatenate(list(cpu.encode_dense_parts(bwt)))


def check(cupy: Any, data: list[Octets], sizes: list[int]) -> list[bytes | str]:
    return check_decoding(cupy, cpu.decode_dense_string, decode_dense_blocks, data, sizes)


@pytest.mark.parametrize("name", CASES)
def test_strings_are_those_of_the_cpu(name: str, cupy: Any) -> None:
    bwt = CASES[name]
    if np.count_nonzero(np.diff(bwt)) > LONG:
        bwt = bwt[:LONG]
    assert check(cupy, [coded(bwt)], [bwt.size]) == [bwt.tobytes()]


def test_many_lanes_in_any_order(cupy: Any) -> None:
    """Of 16 lanes some end early, some hold one symbol, some have words to take together."""
    rng = np.random.default_rng(34)
    bwt = np.concatenate((runs(rng, 200000, 90, 300.0), runs(rng, 2000, 9, 2.0)))
    bwt = np.append(bwt, np.full(70000, 3, np.uint8))
    for seed in (0, 1, 2):
        with schedule(seed=seed):
            check(cupy, [coded(bwt)], [bwt.size])


@pytest.mark.full
def test_segments_follow_one_another(cupy: Any) -> None:
    bwt = np.random.default_rng(5).integers(0, 256, 20500, np.uint8)
    check(cupy, [coded(bwt)], [bwt.size])


def test_any_strings_are_those_of_the_cpu(cupy: Any) -> None:
    @settings(max_examples=20, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(parts=st.lists(strings(40), min_size=1, max_size=3), seed=st.integers(0, 3))
    def compare(parts: list[Octets], seed: int) -> None:
        with schedule(seed=seed):
            found = check(cupy, [coded(part) for part in parts], [part.size for part in parts])
        assert found == [part.tobytes() for part in parts]

    compare()


def test_damaged_blocks_are_told_as_on_the_cpu(cupy: Any) -> None:
    """Damaged, cut off, longer, of another length; a good one stands among them."""
    rng = np.random.default_rng(3)
    bwt = runs(rng, 700, 30, 3.0)
    data = coded(bwt)
    wrong = [data]
    for _ in range(40):
        wrong.append(data.copy())
        wrong[-1][rng.integers(data.size, size=2)] ^= np.uint8(1 << rng.integers(8))
    wrong += [data[:size] for size in (0, 1, data.size // 2, data.size - 1, data.size - 2)]
    wrong += [np.append(data, np.zeros(more, np.uint8)) for more in (1, 2, 4)]
    sizes = [bwt.size] * len(wrong) + [699, 701, 40000]
    wrong += [data] * 3
    found = check(cupy, wrong, sizes)
    assert found[0] == bwt.tobytes()
    assert {"its words are wrong", "bytes are left after its lanes"} < set(found)


@pytest.mark.full
def test_damaged_lanes_are_told_as_on_the_cpu(cupy: Any) -> None:
    """Of 16, so that lanes at their end take words, as hostile states make them."""
    rng = np.random.default_rng(4)
    bwt = runs(rng, 1 << 18, 200, 2000.0)
    data = coded(bwt)
    wrong = []
    for at in [*range(0, data.size, data.size // 12), *range(data.size - 64, data.size, 9)]:
        wrong.append(data.copy())
        wrong[-1][at] ^= np.uint8(1 << rng.integers(8))
    check(cupy, wrong, [bwt.size] * len(wrong))


def test_any_bytes_decode_or_are_corrupt(cupy: Any) -> None:
    @settings(max_examples=25, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(data=st.binary(max_size=120), n=st.sampled_from([1, 5, 700, 40000]))
    def compare(data: bytes, n: int) -> None:
        check(cupy, [np.frombuffer(data, np.uint8)], [n])

    compare()


def test_states_that_are_cut_off_or_wrong(cupy: Any) -> None:
    bwt = np.frombuffer(b"aabaccab" * 3, np.uint8)
    *_, segment = cpu.encode_dense_parts(bwt)
    data = coded(bwt)
    heads = data[: data.size - segment.size]
    zeros = np.append(heads, np.zeros(segment.size, np.uint8))
    found = check(cupy, [np.append(heads, segment[:3]), zeros], [bwt.size] * 2)
    assert found == ["its states are cut off", "its states are wrong"]


@pytest.mark.parametrize("n", [1, 256, 1 << 18])
def test_device_room_holds_what_decoding_takes(cupy: Any, n: int) -> None:
    bwt = np.repeat(np.arange(256, dtype=np.uint8), max(1, n // 256))[:n]
    data, out = coded(bwt), cupy.empty(n, np.uint8)
    with device_memory.of(1 << 30) as memory:
        before = memory.peak
        assert decode_dense_blocks([data], [out]) == {}
        assert memory.peak - before <= cpu.dense_decoder_bytes(data.size, n)


def encode(cupy: Any, bwts: list[Octets]) -> None:
    check_encoding(cupy, cpu.encode_dense_parts, encode_dense_blocks, bwts)


def test_blocks_are_encoded_as_on_the_cpu(cupy: Any) -> None:
    """Of one lane and of two, of none that is shorter, of lanes of one symbol, without ranks."""
    text = CASES["text"][:1500]
    some = [text, np.repeat(text, 22), CASES["one byte"], CASES["random"][:300]]
    some += [CASES["halves"], CASES["period 2"][:400]]
    for seed in (1, 2):
        with schedule(seed=seed):
            encode(cupy, some)


@pytest.mark.full
def test_segments_are_encoded_one_after_the_other(cupy: Any) -> None:
    rng = np.random.default_rng(5)
    encode(cupy, [np.repeat(rng.integers(0, 200, 20500, np.uint8), 1 + rng.integers(0, 2, 20500))])


def test_any_strings_are_encoded_as_on_the_cpu(cupy: Any) -> None:
    @settings(max_examples=10, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(parts=st.lists(strings(60), min_size=1, max_size=3))
    def compare(parts: list[Octets]) -> None:
        encode(cupy, parts)

    compare()
