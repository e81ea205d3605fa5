"""The consensus of mates is their fragment; the better letter counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.tasks.tcr.annotation.kernels.mates import BEST, FEWEST, NO_OVERLAP, consensus
from gangsaw.tasks.tcr.annotation.kernels.reads import turn

Octets = np.ndarray[tuple[int], np.dtype[np.uint8]]


def joined(a: Octets, b: Octets, of_a: Octets, of_b: Octets) -> tuple[Octets, Octets] | None:
    letters, qualities = np.zeros((2, len(a) + len(b)), np.uint8)
    n = consensus(a, of_a, b, of_b, letters, qualities)
    return None if n == NO_OVERLAP else (letters[:n], qualities[:n])


def like(codes: Octets, quality: int) -> Octets:
    return np.full(len(codes), quality, np.uint8)


@given(st.integers(0, 2**32), st.integers(60, 200), st.integers(FEWEST + 8, 60))
def test_mates_make_their_fragment(seed: int, length: int, shared: int) -> None:
    rng = np.random.default_rng(seed)
    fragment = rng.integers(0, 4, length).astype(np.uint8)
    cut = int(rng.integers(shared, length + 1))
    a, b = fragment[:cut], fragment[cut - shared :]
    found = joined(a, b, like(a, 30), like(b, 20))
    assert found is not None
    assert found[0].tolist() == fragment.tolist()
    doubled = np.full(length, 30)
    doubled[cut:] = 20
    doubled[cut - shared : cut] = BEST
    assert found[1].tolist() == doubled.tolist()


@pytest.mark.parametrize(("of_a", "of_b"), [(30, 12), (12, 30), (20, 20)])
def test_the_better_letter_counts(of_a: int, of_b: int) -> None:
    fragment = np.random.default_rng(1).integers(0, 4, 80).astype(np.uint8)
    a, b = fragment[:60].copy(), fragment[20:].copy()
    a[40] = (a[40] + 1) % 4
    found = joined(a, b, like(a, of_a), like(b, of_b))
    assert found is not None
    assert found[0][40] == (a[40] if of_a >= of_b else b[20])
    assert found[1][40] == abs(of_a - of_b)


def test_adapters_behind_short_fragments_are_cut() -> None:
    rng = np.random.default_rng(2)
    fragment, adapters = rng.integers(0, 4, 70), rng.integers(0, 4, (2, 30))
    a = np.concatenate([fragment, adapters[0]]).astype(np.uint8)
    b = np.concatenate([adapters[1], fragment]).astype(np.uint8)
    found = joined(a, b, like(a, 30), like(b, 30))
    assert found is not None
    assert found[0].tolist() == fragment.tolist()


def test_mates_that_share_nothing_are_told() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        a, b = rng.integers(0, 4, (2, 100)).astype(np.uint8)
        assert joined(a, b, like(a, 30), like(b, 30)) is None


@given(st.lists(st.integers(0, 4), max_size=9))
def test_turning(codes: list[int]) -> None:
    letters, qualities = np.array([codes, range(len(codes))], np.uint8).reshape(2, -1)
    turn(letters, qualities, len(codes))
    assert letters.tolist() == [3 - code if code < 4 else 4 for code in reversed(codes)]
    assert qualities.tolist() == [*reversed(range(len(codes)))]
