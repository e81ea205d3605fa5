"""Runs, ranks and lanes on a GPU: those of the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from emulator.host_module import schedule
from helpers.bwt_strings import corner_cases

from gangsaw.codecs.bwt.lanes.cut import divide_into_lanes
from gangsaw.codecs.bwt.lanes.device.gpu_runs import DeviceRunLanes

Octets = npt.NDArray[np.uint8]
CASES = {name: bwt[:600] for name, bwt in corner_cases().items()}
LONG = np.repeat(corner_cases()["text"][:4000], 9)  # of two lanes


def check(cupy: Any, bwts: list[Octets], by_decisions: bool) -> None:
    found = DeviceRunLanes([cupy.asarray(bwt) for bwt in bwts])
    (found.cut_by_decisions if by_decisions else found.cut_evenly)()
    expected = [divide_into_lanes(bwt, by_decisions=by_decisions) for bwt in bwts]
    for heads, lanes in zip(found.heads(), expected, strict=True):
        assert heads.bounds.tolist() == lanes.bounds.tolist()
        assert heads.sizes.tolist() == lanes.sizes.tolist()
        for own, other, k in zip(heads.lists, lanes.lists, lanes.sizes, strict=True):
            assert own[:k].tolist() == other[:k].tolist()
    for name in ("symbols", "ranks"):
        own = getattr(found, name).get()
        assert own.tolist() == np.concatenate([getattr(one, name) for one in expected]).tolist()


@pytest.mark.parametrize("by_decisions", [False, True])
def test_lanes_are_those_of_the_cpu(by_decisions: bool, cupy: Any) -> None:
    for seed, bwts in enumerate((list(CASES.values()), [LONG], [CASES["one byte"]])):
        with schedule(seed=seed):
            check(cupy, bwts, by_decisions)
