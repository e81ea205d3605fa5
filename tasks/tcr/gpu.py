"""GPU backend of path counting: a warp for each reference, all of a batch at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.device import cupy
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.gpu import launch, load, pull
from gangsaw.tasks.tcr.batch import Batch, Counts
from gangsaw.tasks.tcr.model import Model

WARP = 32
WARPS = 4  # of a thread block: with one each, a multiprocessor would take 32 warps of 64
BLOCKS = 6  # of a multiprocessor: 80 registers a thread, of which all but the widest variant spare some
# Longest references of a launch: its shared memory is as large for every warp, and bounds how many
# of them a multiprocessor takes at once.
ROOMS = (48, 64, 96, 128, 255)
NARROW_BITS = 32  # of a mask of symbols, where no D gene with its palindromes has more


def count(batch: Batch, model: Model) -> Counts:
    """Count all paths of every reference, to the same integers as on the CPU.

    Parameters
    ----------
    batch : CuPy arrays; its counts are known to fit 64 bits
    model : what is counted

    Returns
    -------
    Counts : CuPy arrays

    Raises
    ------
    BadParams : a reference is longer than MAX_LENGTH, or has no V or J part
    MemoryError : the counts do not fit the device's memory
    DeviceError : the device failed
    """
    d_lengths = np.diff(batch.d.starts.get())
    out = empty_counts(len(batch.references), len(d_lengths), model)
    wide = bool(d_lengths.max(initial=0) + _d_ends(model) * model.max_p > NARROW_BITS)
    kernel = load(__package__, "gpu.cu", defines(model, wide=wide)).get_function("count_paths")
    status = cupy().zeros(len(batch.references), np.int32)
    arguments = (*_arguments(batch, model, d_lengths, out), status)
    for order, room in _launches(batch):
        bytes_ = warp_bytes(room, model, wide=wide)
        sizes = (order, np.int32(len(order)), np.int32(room), np.int32(bytes_))
        grid = -(-len(order) // WARPS)
        launch(kernel, grid, WARP * WARPS, (*sizes, *arguments), WARPS * bytes_)
    _refuse(pull(status))
    return out


def defines(model: Model, *, wide: bool) -> dict[str, int | str]:
    """Return what specialises the kernels; wide : whether masks of D genes take 64 bits."""
    return {
        "GS_MAX_P": model.max_p,
        "GS_MAX_N": model.max_n,
        "GS_STRANDS": model.strands,
        "GS_MIN_D_END": model.min_d_end,
        "GS_WIDE": int(wide),
        "GS_DP1": int(model.dp1),
        "GS_DP2": int(model.dp2),
        "GS_D_SEGMENTS": model.d_segments,
        "GS_BLOCK": WARP * WARPS,
        "GS_BLOCKS": BLOCKS,
    }


def _d_ends(model: Model) -> int:
    """At how many ends a D gene is extended."""
    return 2 if model.dp1 else 1


def warp_bytes(room: int, model: Model, *, wide: bool) -> int:
    """Return the shared memory of a warp for references of up to `room` symbols.

    It holds what `Reference` of paths.cuh does.
    """
    tables = 1 if model.d_segments == 1 else 4
    paths = 8 * tables * (room + 1) * (model.max_n + 1)
    masks = 2 * room * (8 if wide else 4)
    letters = 4 * 4 * -(-room // WARP)
    return -(-(paths + masks + letters + 2 * room + 1) // 16) * 16


def empty_counts(n: int, n_d: int, model: Model) -> Counts:
    """Return uninitialised counts of n references with n_d D genes in device memory."""
    cp = cupy()
    arrays = {
        name: None if shape is None else cp.empty(shape, np.int16 if name in CALLS else np.uint64)
        for name, shape in shapes_of(n, n_d, model).items()
    }
    return Counts(**arrays)


CALLS = {"genes", "ndn", "d", "n1", "n2"}


def shapes_of(n: int, n_d: int, model: Model) -> dict[str, tuple[int, ...] | None]:
    """Return the shape of each array of Counts, None for what the model leaves out."""
    sweep = (model.max_n + 1, model.max_p + 1)
    choices = n_d if model.d_segments == 1 else n_d * (n_d - 1) // 2
    with_d = (n, choices, *sweep) if model.dp2 and choices else None
    totals = model.max_n + 1
    of_d = n_d > 0
    return {
        "full": with_d,
        "zero": with_d,
        "no_d": (n, *sweep) if model.dp2 else None,
        "no_d_two": (n, *sweep) if model.dp2 else None,
        "dp1_nonempty": (n, max(n_d, 1), totals) if model.dp1 else None,
        "dp1_empty": (n, totals) if model.dp1 and of_d else None,
        "genes": (n, 6),
        "ndn": (n, 4),
        "d": (n, n_d, 5) if of_d else None,
        "n1": (n, n_d, 4) if of_d else None,
        "n2": (n, n_d, 4) if of_d else None,
    }


def _arguments(batch: Batch, model: Model, d_lengths: Any, out: Counts) -> list[Any]:
    """What the kernels take, behind the references of a launch."""
    cp = cupy()
    nothing = cp.empty(0, np.uint64)
    empty = [[model.empty_d_ways(int(g), pi) for pi in range(model.max_p + 1)] for g in d_lengths]
    parts: list[Any] = []
    for sequences in (batch.references, batch.v, batch.j, batch.d):
        parts += [sequences.codes, sequences.starts, np.int32(len(sequences))]
    parts += [batch.v_of, batch.j_of, cp.asarray(np.array(empty, np.uint64))]
    arrays = (getattr(out, field.name) for field in fields(out))
    return [*parts, *(nothing if array is None else array for array in arrays)]


def _launches(batch: Batch) -> Iterator[tuple[Any, int]]:
    """Yield the numbers of the references of each launch, and what they have room in."""
    cp = cupy()
    lengths = cp.diff(batch.references.starts)
    order = cp.argsort(lengths)
    ends = cp.searchsorted(lengths[order], cp.asarray(np.array(ROOMS)), side="right").get()
    if ends[-1] < len(lengths):
        raise BadParams(f"a reference is longer than {ROOMS[-1]} nucleotides")
    order = order.astype(np.int32)
    for first, last, room in zip((0, *ends), ends, ROOMS, strict=False):
        if first < last:
            yield order[first:last], room


def _refuse(status: npt.NDArray[np.int32]) -> None:
    """Raise BadParams for the first reference without V or J part."""
    for wrong in np.flatnonzero(status)[:1]:
        raise BadParams(f"reference {wrong}: v_of or j_of is no V or J part of the batch")
