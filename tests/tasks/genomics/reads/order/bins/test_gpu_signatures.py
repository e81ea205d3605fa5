"""Signatures on a GPU: the bins that the CPU finds, of reads of any length and bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.pools import device_memory

from gangsaw.codecs.core.cuda import launch
from gangsaw.codecs.reads.sequence.bases import to_base_codes
from gangsaw.tasks.genomics.reads.order.bins import gpu_signatures
from gangsaw.tasks.genomics.reads.order.bins.gpu_signatures import bins_of_lines
from gangsaw.tasks.genomics.reads.order.bins.packed import packed_reads
from gangsaw.tasks.genomics.reads.order.bins.signatures import HALVED, LENGTH, NO_BIN, sign_lines

# around a p-mer, a word, a thread's share, a half; one that every thread of a read goes over twice
LENGTHS = [0, 1, LENGTH - 1, LENGTH, 15, 29, 30, 31, 32, 33, HALVED - 1, HALVED, 75, 151, 1003]


def lines() -> tuple[Any, Any, Any]:
    """Reads without others, with some, of others alone, and with runs; the last ends the text."""
    rng = np.random.default_rng(4)
    made = []
    for i, n in enumerate(LENGTHS * 4):
        line = rng.choice(np.frombuffer(b"ACGTU", np.uint8), n)
        if i % 4 == 1 and n:
            line[rng.integers(0, n, 1 + n // 30)] = rng.integers(0, 256, 1 + n // 30)
        made.append(line if i % 4 < 2 else np.full(n, b"NA"[i % 2], np.uint8))
    ends = np.cumsum([line.size for line in made])
    return np.concatenate(made), ends - [line.size for line in made], ends


def test_letters_are_packed_in_two_bits() -> None:
    text, begins, ends = lines()
    reads = packed_reads(text, begins, ends)
    for first, begin, n in zip(reads.firsts.tolist(), begins, reads.lengths.tolist(), strict=False):
        at = np.arange(n, dtype=np.uint64)
        words, shift = first + at.astype(int) // 32, at % np.uint64(32)
        codes = reads.letters[words] >> (np.uint64(62) - np.uint64(2) * shift) & np.uint64(3)
        others = reads.others[words] >> shift & np.uint64(1)
        found = np.where(others, 4, codes)
        dna = np.frombuffer(text[begin : begin + n].tobytes().replace(b"U", b"T"), np.uint8)
        np.testing.assert_array_equal(found, to_base_codes(dna)[:n])


@pytest.mark.parametrize("split", [False, True])
def test_bins_are_those_of_the_cpu(cupy: Any, monkeypatch: Any, split: bool) -> None:
    text, begins, ends = lines()
    expected = sign_lines(text, begins, ends)
    assert 0 < (expected == NO_BIN).sum() < expected.size
    if split:
        monkeypatch.setattr(gpu_signatures, "MOST_READS", 25)
        monkeypatch.setattr(launch, "free_device_bytes", lambda: 2000 + gpu_signatures.RUN_BYTES)
    np.testing.assert_array_equal(bins_of_lines(text, begins, ends), expected)
    assert bins_of_lines(text, begins[:0], ends[:0]).shape == (0, 2)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("n", [1, 10, None])
def test_the_memory_of_a_run_is_enough(cupy: Any, n: int | None) -> None:
    """What is promised is all that is taken from the device, small arrays and all."""
    text, begins, ends = lines()
    with device_memory.of(1 << 30) as memory:
        before = memory.used
        bins_of_lines(text, begins[:n], ends[:n])
    assert memory.peak - before <= gpu_signatures.bound_launch_bytes((ends - begins)[:n])
