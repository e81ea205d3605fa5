"""Lanes of qualities that are right but for one thing, so that one check alone refuses each.

They are written by the slow reference, with tables that have every symbol. Kernels without one of
the checks accept the example of that check, or touch memory that is not theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from helpers.backends import encoded_block
from helpers.lane_checks import Example, block_of, check_both_refuse, check_mutant, outcome
from reference.reads_parts import TOTAL
from reference.reads_quality import Model, read_model, write_model, write_window

from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.reads import cpu, gpu
from gangsaw.codecs.reads.cpu import CODINGS
from gangsaw.codecs.reads.params import Params
from gangsaw.codecs.reads.payload import CODED, HEAD, OPEN

LANE = 64
PARAMS = Params(kind="quality", lane=LANE)
# begins: 0, 41, 192, 223, 324; no line begins in the windows 1, 2 and 4
LENGTHS = [40, 150, 30, 100, 50]
Windows = dict[int, tuple[int, list[bytes]]]  # lead and lines of a window


def _lines() -> list[bytes]:
    rng = np.random.default_rng(5)
    letters = np.frombuffer(b"#+5?I", np.uint8)
    return [letters[rng.integers(0, 5, n)].tobytes() for n in LENGTHS]


LINES = _lines()
WHOLE: Windows = {0: (0, LINES[:2]), 3: (0, LINES[2:4]), 5: (4, LINES[4:])}
BLOCK = np.frombuffer(b"".join(line + b"\n" for line in LINES), np.uint8)


def _model() -> Model:
    """Return what the encoder says of the block, with all symbols in the tables of syntax."""
    data, _ = encoded_block(CODINGS["quality"], BLOCK, PARAMS)
    assert data[0] == CODED
    model, _ = read_model(data[HEAD.size :].tobytes())
    wide = dict.fromkeys(range(32), TOTAL // 32)
    lengths = dict.fromkeys(range(256), TOTAL // 256)
    syntax = [wide, {0: TOTAL // 2, 1: TOTAL // 2}, lengths, wide]
    values = dict.fromkeys(range(4), TOTAL // 8) | {4: TOTAL // 2}
    return model._replace(tables=[*syntax, *(values for _ in model.tables[4:])])


def forged(windows: Windows, *, more: int = 0, is_open: bool = False) -> Runs:
    """Return a block of these windows, perhaps with bytes behind its last lane, or open."""
    model = _model()
    data, _ = encoded_block(CODINGS["quality"], BLOCK, PARAMS)
    mode = bytes([data[0] | OPEN * is_open])
    front = mode + data[1 : HEAD.size].tobytes() + write_model(model)
    lanes = [front, b""]
    for i in range(-(-BLOCK.size // LANE)):
        lead, lines = windows.get(i, (0, []))
        lanes.append(write_window(lines, model, lead) if lines else b"")
    lanes[-1] += bytes(more)
    return block_of(lanes)


CHECKS: dict[str, Callable[[], Example]] = {}


def _check(name: str, check: tuple[str, str], runs: Callable[[], Runs]) -> None:
    CHECKS[name] = lambda: Example(*check, runs(), BLOCK.size, PARAMS)


_check(
    "a line begins behind its window",
    ("|| begin >= window_end ", ""),
    partial(forged, {0: (0, LINES[:4]), 5: WHOLE[5]}),
)
_check(
    "a line reaches behind the block",
    (" || begin + length > limit", ""),
    partial(forged, {**WHOLE, 5: (4, [LINES[4] + b"I" * 9000])}, is_open=True),
)
_check(
    "a line has no room for its end",
    ("return begin + length < limit ||", "return true ||"),
    partial(forged, {**WHOLE, 3: (0, [LINES[2], LINES[3] + b"I"])}),
)
_check(
    "the next window begins behind itself",
    ("&&\n           start.begin < end_of(window, text)", ""),
    partial(forged, {**WHOLE, 3: (0, [LINES[2], LINES[3] + b"I" * 9000]), 5: (10000, LINES[4:])}),
)
_check(
    "a lane goes on behind its lines",
    ("lane.x == LOWEST && lane.at == lane.stop", "lane.x == LOWEST"),
    partial(forged, WHOLE, more=2),
)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
def test_the_windows_without_a_fault_are_decoded(cupy: Any) -> None:
    whole = Example("", "", forged(WHOLE), BLOCK.size, PARAMS)
    assert outcome(cpu, np, whole) == outcome(gpu, cupy, whole) == BLOCK.tobytes()


@pytest.mark.parametrize("name", CHECKS)
def test_both_sides_refuse_one_fault(name: str, cupy: Any) -> None:
    check_both_refuse(CHECKS[name](), cupy)


@pytest.mark.parametrize("cupy", ["emulated"], indirect=True)
@pytest.mark.parametrize("name", CHECKS)
def test_kernels_without_the_check_are_noticed(
    name: str, cupy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_mutant(CHECKS[name](), cupy, monkeypatch)
