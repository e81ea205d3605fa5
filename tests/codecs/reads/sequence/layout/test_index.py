"""The index of k-mers: sorted, on both strands the same, and in groups of those that are equal."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

from gangsaw.codecs.core.numba.jit import jit
from gangsaw.codecs.reads.sequence.layout import index as kernels
from gangsaw.codecs.reads.sequence.layout.index import (
    ALONE,
    MEMBERS,
    PLACE,
    SIZE,
    KmerIndex,
    build_index,
)
from gangsaw.codecs.reads.sequence.layout.sort import sort_by_hash

_first_kmer = kernels.first_kmer
Codes = npt.NDArray[np.uint8]


@jit
def first_kmer(index: KmerIndex, begin: int) -> int:
    return _first_kmer(index, begin)


def random_codes(seed: int, n: int) -> Codes:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, n, np.uint8)
    if n > 100:
        codes[rng.integers(0, n, n // 100)] = 4
        codes[n // 2 : n // 2 + 40] = 3 - codes[40:0:-1]
    return codes


def canonical(codes: Codes, place: int, k: int) -> tuple[bytes, int]:
    """The k-mer as the index takes it, and whether that is the complement."""
    kmer = codes[place : place + k]
    turned = 3 - kmer[::-1]
    return min((kmer.tobytes(), 0), (turned.tobytes(), 1))


def members_of(index: KmerIndex, group: int) -> list[int]:
    size = int(index.groups[group + SIZE])
    return index.groups[group + MEMBERS : group + MEMBERS + size].tolist()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1 << 32), st.integers(0, 5000))
def test_sort_is_stable(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 1 << 40, n, np.uint64) << np.uint64(24)
    keys |= np.arange(n, dtype=np.uint64)
    order = np.argsort(keys >> np.uint64(32), kind="stable")
    expected = keys[order]
    np.testing.assert_array_equal(sort_by_hash(keys), expected)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1 << 32), st.integers(0, 3000), st.sampled_from([5, 14, 15, 16]))
def test_groups_are_the_equal_kmers(seed: int, n: int, k: int) -> None:
    codes = random_codes(seed, n)
    index = build_index(codes, k)
    assert (np.diff(index.kmers[:, PLACE].astype(np.int64)) > 0).all()
    expected: dict[bytes, list[int]] = defaultdict(list)
    for word in index.kmers[:, PLACE].tolist():
        kmer, turned = canonical(codes, word >> 1, k)
        assert max(kmer, default=0) < 4
        assert turned == word & 1
        expected[kmer].append(word)
    for word, group in index.kmers.tolist():
        members = expected[canonical(codes, word >> 1, k)[0]]
        assert [word] == members if group == ALONE else members_of(index, group) == members


def test_a_third_of_the_kmers_is_taken_on_both_strands() -> None:
    codes = random_codes(1, 50000)[:24000]
    forward = build_index(codes, 15).kmers[:, PLACE] >> np.uint32(1)
    turned = np.where(codes < 4, 3 - codes, 4)[::-1].astype(np.uint8)
    backward = build_index(turned, 15).kmers[:, PLACE] >> np.uint32(1)
    np.testing.assert_array_equal(forward, np.sort(codes.size - 15 - backward.astype(np.int64)))
    assert 0.25 < forward.size / codes.size < 0.36


def test_the_first_kmer_of_a_stretch() -> None:
    index = build_index(random_codes(2, 3000), 15)
    places = index.kmers[:, PLACE] >> 1
    for begin in range(3000):
        assert first_kmer(index, begin) == np.searchsorted(places, begin)
