"""Lanes of dense blocks that are right but for one thing, so that one check alone refuses each."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from helpers.backends import encoded
from helpers.lane_checks import Example, check_both_refuse, check_mutant

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.dna import cpu
from gangsaw.codecs.dna.head import HEAD
from gangsaw.codecs.dna.params import Params
from gangsaw.codecs.dna.payload import DENSE

PARAMS, N_BASES = Params("dense"), 16_500  # two lanes


@cache
def whole() -> Runs:
    rng = np.random.default_rng(4)
    bases = np.resize(np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, 1500)], N_BASES)
    found = encoded(cpu, [bases], PARAMS)
    assert found.payloads[0][0] == DENSE
    assert found.lane_bits is not None
    assert np.count_nonzero(found.lane_bits) == 2
    return found


def flipped(lane: int) -> Runs:
    """The last word of a lane has another low bit: the lane ends with another state."""
    payload, bits = whole().payloads[0].copy(), whole().lane_bits
    assert bits is not None
    end = HEAD.size + int(bits[0, : lane + 1].sum()) // 8
    payload[end - 2 : end].view("<u2")[:] ^= 1
    return Runs((payload,), bits)


def longer(lane: int) -> Runs:
    """A word follows those of a lane."""
    bits = whole().lane_bits
    assert bits is not None
    end, more = HEAD.size + int(bits[0, : lane + 1].sum()) // 8, bits.copy()
    more[0, lane] += 16
    return Runs((np.insert(whole().payloads[0], end, [0, 0]),), more)


CHECKS = {
    "a state that is not the first": ("reader.x == LOWEST && ", "", lambda: flipped(1)),
    "words that are not read": (" && reader.at == reader.end", "", lambda: longer(1)),
    "the end of every lane": ("__syncthreads_and(is_whole)", "is_whole", lambda: longer(1)),
}


def example(name: str) -> Example:
    there, instead, runs = CHECKS[name]
    return Example(there, instead, runs(), N_BASES, PARAMS)


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("name", CHECKS)
def test_both_sides_refuse_one_fault(name: str, cupy: Any) -> None:
    check_both_refuse(example(name), cupy)


@pytest.mark.quick(cases=1)
@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("name", CHECKS)
def test_kernels_without_the_check_are_noticed(
    name: str, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_mutant(example(name), cupy, monkeypatch)
