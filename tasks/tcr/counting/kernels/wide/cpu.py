"""CPU backend for palindromes and junctions of any length, with threads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.memory.threads import run_blocks
from gangsaw.tasks.tcr.counting.kernels.batch import CALLS, Batch, Counts, check_lengths, shapes_of
from gangsaw.tasks.tcr.counting.kernels.reference import References
from gangsaw.tasks.tcr.counting.kernels.stages.scratch import make_outputs
from gangsaw.tasks.tcr.counting.kernels.wide.counting import count_wide_rows
from gangsaw.tasks.tcr.counting.kernels.wide.tables import make_work, wide_limits, wide_tables
from gangsaw.tasks.tcr.model import Model, empty_d_cuts

SLICE = 256  # references of a thread's task


def count_wide(batch: Batch, model: Model) -> Counts:
    """Count the paths to each reference like `kernels.cpu.count`, for any max_p and max_n.

    Raises
    ------
    BadParams : a reference is longer than MAX_LENGTH
    """
    shapes = shapes_of(len(batch.references), len(batch.d), model)
    arrays = _counted(batch, model, model.pis, model.nus, np.uint64)
    return Counts(**{name: arrays[name] if shape else None for name, shape in shapes.items()})


def find_largest_counts(batch: Batch, model: Model) -> npt.NDArray[np.float64]:
    """Return the greatest count of each reference, (n,), accurate to 9 digits.

    Counts grow with nu and with pi: DP-2 is counted only for the greatest, in floating point.
    """
    arrays = _counted(batch, model, model.pis[-1:], model.nus[-1:], np.float64)
    n = len(batch.references)
    greatest = np.zeros(n)
    for name in ("full", "no_d", "no_d_two", "dp1_nonempty", "dp1_empty"):
        if arrays[name].size:
            greatest = np.maximum(greatest, arrays[name].reshape(n, -1).max(axis=1))
    if arrays["dp1_empty"].size:
        cuts = [empty_d_cuts(size, model.max_p) for size in batch.d.lengths.tolist()]
        emptied = np.array(cuts)[:, None] * arrays["dp1_empty"].reshape(n, 1, -1)
        whole = arrays["dp1_nonempty"].reshape(emptied.shape) + emptied
        greatest = np.maximum(greatest, whole.reshape(n, -1).max(axis=1))
    return greatest


def _counted(
    batch: Batch, model: Model, pis: Sequence[int], nus: Sequence[int], dtype: npt.DTypeLike
) -> dict[str, NumpyArray]:
    """Return the arrays of Counts by name for the given pi and nu; size 0 if outside the model."""
    check_lengths(batch.references.offsets)
    n, n_d = len(batch.references), len(batch.d)
    longest = int(batch.references.lengths.max(initial=1))
    limits = wide_limits(model, n_d, pis, nus, longest)
    shapes = shapes_of(n, n_d, model, (len(nus), len(pis)))
    arrays = {
        name: np.empty(shape or 0, np.int16 if name in CALLS else dtype)
        for name, shape in shapes.items()
    }
    outputs, tables = make_outputs(arrays), wide_tables(batch, model, pis, dtype)
    references = References.of(batch)

    def count_slice(i: int) -> None:
        rows = np.arange(i * SLICE, min(n, (i + 1) * SLICE))
        work = make_work(limits, longest, dtype)
        count_wide_rows(rows, references, tables, limits, work, outputs)

    run_blocks(count_slice, -(-n // SLICE))
    return arrays
