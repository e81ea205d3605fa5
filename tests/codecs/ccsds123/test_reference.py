"""The slow reference against streams of other implementations: it judges the fast one."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from helpers.ccsds123_setups import body_params, setup_of
from helpers.ccsds123_vectors import Vector, vector_parameters, vectors
from reference import ccsds123
from reference.ccsds123_header import Setup

SLOW = 300_000  # samples: plain Python decodes some 30,000 a second


@pytest.mark.parametrize("vector", vector_parameters(slow_above=30_000))  # plain Python: 1 s
def test_third_party_stream(vector: Vector) -> None:
    """Streams of more than SLOW samples are decoded up to there."""
    data, image = vector.data(), vector.image()
    samples, setup = ccsds123.decode(
        data, None if vector.has_header else setup_of(*body_params(vector)), SLOW
    )
    if image.size <= SLOW:
        np.testing.assert_array_equal(np.reshape(samples, image.shape), image)
        assert ccsds123.encode(samples, setup, vector.has_header) == data
        return
    order = itertools.islice(ccsds123.encoding_order(setup), SLOW)
    z, y, x = np.array(list(order)).T
    np.testing.assert_array_equal(np.reshape(samples, image.shape)[z, y, x], image[z, y, x])


def test_all_vectors_are_there(shared: Path) -> None:
    assert len(vectors()) == 65


COMBINATIONS = list(itertools.product((True, False), range(4), (True, False), (True, False)))


@pytest.mark.parametrize(("full", "local_sum", "bsq", "block_adaptive"), COMBINATIONS)
def test_round_trip_without_vectors(
    full: bool, local_sum: int, bsq: bool, block_adaptive: bool
) -> None:
    """Rows that no third-party stream has: narrow sums, restricted codes, more than 16 bits."""
    rng = random.Random(local_sum)
    for d in (2, 4, 8, 17, 32):
        c = Setup(3, 4, 5, d, True, 2, full, local_sum, bsq=bsq, m=0 if bsq else 2)
        c.block_adaptive, c.restricted, c.k, c.j = block_adaptive, d <= 4, 0, 8
        samples = [[rng.randint(c.s_min, c.s_max) for _ in range(20)] for _ in range(3)]
        decoded, header = ccsds123.decode(ccsds123.encode(samples, c))
        assert decoded == samples
        assert header.d == d
