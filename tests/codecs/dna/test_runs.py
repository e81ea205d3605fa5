"""Runs of packed bytes against the slow reference, where blocks are short."""

from __future__ import annotations

import numpy as np
from reference import dna as reference

from gangsaw.codecs.dna.gencodex.coding import decode_runs, encode_runs


def test_runs_are_taken_wherever_they_are_shorter() -> None:
    """Also where the last group of a short block is the one that decides."""
    rng, taken = np.random.default_rng(6), 0
    for size in range(1, 40):
        for n_values in (1, 2, 200):
            packed = rng.integers(0, n_values, size, np.uint8)
            expected, found = reference.groups(packed.tobytes()), encode_runs(packed)
            if len(expected) >= size:
                assert found is None
                continue
            assert found is not None
            assert found.tobytes() == expected
            np.testing.assert_array_equal(decode_runs(found, size), packed)
            taken += 1
    assert taken > 30
