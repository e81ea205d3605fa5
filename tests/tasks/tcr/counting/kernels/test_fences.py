"""The kernels of path counting touch nothing outside of the arrays that they are given."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers.fenced_memory import fenced, needs_fences

from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr import Model
from gangsaw.tasks.tcr.counting.kernels import cpu
from gangsaw.tasks.tcr.counting.kernels.batch import Batch, Counts
from gangsaw.tasks.tcr.counting.kernels.tables import WORD_D
from gangsaw.tasks.tcr.counting.paths.count import make_batch
from gangsaw.tasks.tcr.model import MAX_LENGTH

pytestmark = needs_fences


def all_fenced(arrays: NamedTuple, at_end: bool) -> Any:
    """Copy all arrays of a tuple, and of tuples in it, to between pages without access."""

    def copied(value: Any) -> Any:
        if isinstance(value, tuple):
            return all_fenced(value, at_end)  # type: ignore[arg-type]
        return fenced(np.ascontiguousarray(value), at_end)

    return type(arrays)(*map(copied, arrays))


def fenced_batch(batch: Batch, at_end: bool) -> Batch:
    """Do the same for the caller's memory."""

    def copied(value: Any) -> Any:
        if isinstance(value, RaggedArray):
            return RaggedArray(fenced(value.data, at_end), fenced(value.offsets, at_end))
        return fenced(value, at_end)

    return Batch(**{field.name: copied(getattr(batch, field.name)) for field in fields(Batch)})


UNITS = ["A", "AT", "N", "GATTACA", "RY"]
LENGTHS = [1, 2, 7, 60, MAX_LENGTH]


FEW = {unit: (unit * WORD_D)[:WORD_D] for unit in UNITS} | {"short": "TAAT"}
MANY = {f"{unit}{n}": (unit * n)[:n] for unit in UNITS if unit != "N" for n in (4, 9, WORD_D)}


@pytest.mark.full
@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize(
    ("model", "d"),
    [
        (Model("both", max_n=0, max_p=0, min_d_end=0), FEW),
        (Model("both", 2, min_d_end=0), FEW),
        (Model("dp2", 2, max_p=3, d_segments=2), FEW),
        (Model("both", 2), {name: gene for name, gene in MANY.items() if "R" not in name}),
    ],
    ids=["nothing", "all", "two D genes", "words of many"],
)
def test_nothing_outside_is_touched(
    model: Model, d: dict[str, str], at_end: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Longest and shortest of everything, with as many matches as there can be."""
    cdr3 = [(unit * MAX_LENGTH)[:length] for unit in UNITS for length in LENGTHS]
    ends = [(unit * MAX_LENGTH)[: 4 + 5 * length] for unit in UNITS for length in LENGTHS]
    batch = make_batch(cdr3, ends, ends[::-1], d, model)
    wanted = cpu.count(batch, model)
    scratch, tables, outputs = cpu.make_counting_scratch, cpu.make_tables, cpu.make_outputs
    within: list[Any] = []

    def fenced(arrays: Any) -> Any:
        within.append(all_fenced(outputs(arrays), at_end))
        return within[-1]

    with monkeypatch.context() as patch:
        patch.setattr(cpu, "make_counting_scratch", lambda *a: all_fenced(scratch(*a), at_end))
        patch.setattr(cpu, "make_tables", lambda *a: all_fenced(tables(*a), at_end))
        patch.setattr(cpu, "make_outputs", fenced)
        cpu.count(fenced_batch(batch, at_end), model)
    for field in fields(Counts):
        values = getattr(wanted, field.name)
        if values is not None:
            np.testing.assert_array_equal(getattr(within[0], field.name), values.ravel())
