"""Lanes of offsets that are right but for one thing, so that one check alone refuses each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.lane_checks import Example, block_of, check_both_refuse, check_mutant, outcome
from reference.reads_parts import LaneWriter, write_tables

from gangsaw.codecs.reads import cpu, gpu
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import CODED

LANE, USUAL = 64, 20
TABLE = dict.fromkeys(range(256), 16)
SYMBOL_OF_64_BITS = 249  # one more than the largest that there is
PARAMS = Params(kind="offset", lane=LANE)


def forged(*, odd: int = 0, last: int = 1 << 16, more: int = 0) -> Example:
    """Two windows; `odd` raw bits follow a symbol of so many, `more` bytes the last lane."""
    lanes = []
    for first in range(2):
        lane = LaneWriter()
        lane.raw(1000 * first, 64)
        for _ in range(LANE - 1):
            lane.symbol(TABLE, 0)
        if odd and first:
            lane.spans = lane.spans[:-1]
            lane.symbol(TABLE, SYMBOL_OF_64_BITS)
            lane.raw(1, odd)
        lanes.append(lane.bytes(last if first else 1 << 16))
    head = bytes([CODED]) + USUAL.to_bytes(8, "little") + write_tables([TABLE])
    return Example(
        "", "", block_of([head, b"", lanes[0], lanes[1] + bytes(more)]), 2 * LANE, PARAMS
    )


CHECKS = {
    "a number of more than 64 bits": forged(odd=64)._replace(there="if (bits > 63) return false;"),
    "a state that is not the first": forged(last=(1 << 16) + 1)._replace(
        there="lane.x == LOWEST && "
    ),
    "a lane goes on behind its items": forged(more=2)._replace(there=" && lane.at == lane.stop"),
}


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_lanes_without_a_fault_are_decoded(cupy: Any) -> None:
    starts = np.arange(LANE, dtype="u8") * USUAL
    wanted = np.concatenate([starts, 1000 + starts]).tobytes()
    assert outcome(cpu, np, forged()) == outcome(gpu, cupy, forged()) == wanted


@pytest.mark.parametrize("name", CHECKS)
def test_both_sides_refuse_one_fault(name: str, cupy: Any) -> None:
    check_both_refuse(CHECKS[name], cupy)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("name", CHECKS)
def test_kernels_without_the_check_are_noticed(
    name: str, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_mutant(CHECKS[name], cupy, monkeypatch)
