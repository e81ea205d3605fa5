"""GPU backend of path counting: a warp per reference, all references of a batch in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from math import prod

import numpy as np

from gangsaw.codecs.core.arrays import NumpyArray, Run
from gangsaw.codecs.core.cuda.cupy_types import DeviceArray
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import device_errors, in_runs, launch, load_module, pull
from gangsaw.codecs.core.cuda.streams import own_stream
from gangsaw.codecs.core.errors import BadParams, DeviceError
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.tcr.counting.kernels.batch import CALLS, Batch, Counts, shapes_of
from gangsaw.tasks.tcr.counting.kernels.tables import WORD_D
from gangsaw.tasks.tcr.model import MAX_LENGTH, Model

WARP = 32
WARPS = 4  # maximum of a thread block; with one each, a multiprocessor would run 32 warps of 64
BLOCKS = 6  # per multiprocessor: allows 80 registers per thread; with 64, for 8 blocks, it spills
# Longest references of a launch. Each of its warps gets the shared memory that such a reference
# needs, which limits the number of warps that a multiprocessor runs at once.
ROOMS = (48, 64, 96, 128, MAX_LENGTH)
SHARED_BYTES = 160 << 10  # limit of a block on sm_80; later devices have more
NARROW_BITS = 32  # bits of a mask of symbols, if no D gene with its palindromes is longer
# Per reference: starts, V, J, status; lengths, a copy, their order, two sort buffers; launched.
SORTING_BYTES = 64
SMALL_BYTES = 1 << 14  # rounding of about 30 allocations, the table of ways, the limits of launches


def count(batch: Batch, model: Model) -> Counts:
    """Count all paths of every reference; the result equals that of the CPU.

    Parameters
    ----------
    batch : CuPy arrays; its counts must fit 64 bits
    model : limits of the paths

    Returns
    -------
    Counts : CuPy arrays

    Raises
    ------
    BadParams : a reference has no V or J part, or is longer than MAX_LENGTH; a part is shorter than
        max_p, or a D gene longer than WORD_D
    DeviceError : the device has too little memory, or failed
    """
    try:
        with device_errors("counting paths"):
            return _count(batch, model)
    except MemoryError as error:
        n = len(batch.references)
        needed = counts_bytes(n, len(batch.d), model) >> 20
        raise DeviceError(
            f"too little memory on the GPU: counts of {n} references need {needed} MiB; count "
            "fewer at once"
        ) from error


def count_hosted(batch: Batch, model: Model) -> Counts:
    """Count references in host memory on the current device, in batches that fit its memory.

    Several threads copy and count in parallel, each on its own stream.

    Parameters
    ----------
    batch : NumPy arrays; its counts must fit 64 bits
    model : limits of the paths

    Returns
    -------
    Counts : NumPy arrays, as from `cpu.count`

    Raises
    ------
    BadParams, DeviceError : see `count`
    """

    def work(run: Run) -> Counts:
        with own_stream() as copies:
            counts = _count(uploaded(run_of(batch, run)), model, run.start)
            return _each(counts, copies.to_host)

    runs = in_runs(work, len(batch.references), lambda run: run_bytes(batch, run, model))
    return runs[0] if len(runs) == 1 else _joined(runs)


def has_kernel(batch: Batch) -> bool:
    """Return True if each D gene, with its palindromes, fits the masks of the kernel."""
    return max(np.diff(to_host(batch.d.offsets)).tolist(), default=0) <= WORD_D


def _count(batch: Batch, model: Model, first: int = 0) -> Counts:
    """Count references that fit device memory, or raise MemoryError.

    Parameters
    ----------
    batch : CuPy arrays
    model : limits of the paths
    first : number of the first reference in messages
    """
    d_lengths = _d_lengths(batch, model)
    wide = max(d_lengths, default=0) + (2 if model.dp1 else 1) * model.max_p > NARROW_BITS
    out = _empty_counts(len(batch.references), len(d_lengths), model)
    kernel = load_module(__package__, "gpu.cu", defines(model, wide=wide)).get_function(
        "count_rows"
    )
    status = cupy().zeros(len(batch.references), np.int32)
    arguments = (*_parts(batch), _empty_ways(d_lengths, model), *_pointers(out), status)
    for order, room in _launches(batch):
        n_bytes = warp_bytes(room, model, wide=wide)
        warps = min(WARPS, SHARED_BYTES // n_bytes)
        n = order.shape[0]
        sizes = np.int32(n), np.int32(room), np.int32(n_bytes)
        grid = -(-n // warps)
        launch(kernel, grid, WARP * warps, (order, *sizes, *arguments), warps * n_bytes)
    for wrong in np.flatnonzero(pull(status))[:1]:
        raise BadParams(
            f"reference {first + wrong}: v_of or j_of is no V or J part of the batch, or one of "
            f"less than max_p ({model.max_p}) nucleotides"
        )
    return out


def _d_lengths(batch: Batch, model: Model) -> list[int]:
    """Return the lengths of the D genes; raise `BadParams` if one does not fit the masks."""
    lengths: list[int] = np.diff(to_host(batch.d.offsets)).tolist()
    if any(not max(1, model.max_p) <= length <= WORD_D for length in lengths):
        least = model.max_p
        raise BadParams(f"D genes have max_p ({least}) to {WORD_D} nucleotides; got {lengths}")
    return lengths


def defines(model: Model, *, wide: bool) -> dict[str, int | str]:
    """Return the macros that specialise the kernel; `wide` selects 64-bit masks of D genes."""
    return {
        "GS_MAX_P": model.max_p,
        "GS_MAX_N": model.max_n,
        "GS_STRANDS": model.strands,
        "GS_MIN_D_END": model.min_d_end,
        "GS_D_SEGMENTS": model.d_segments,
        "GS_WIDE": int(wide),
        "GS_DP1": int(model.dp1),
        "GS_DP2": int(model.dp2),
        "GS_BLOCK": WARP * WARPS,
        "GS_BLOCKS": BLOCKS,
    }


def warp_bytes(max_length: int, model: Model, *, wide: bool) -> int:
    """Return the shared memory of a warp, in bytes, for references of up to `max_length` symbols.

    The layout is that of `Reference` in matches.cuh.
    """
    tables = 1 if model.d_segments == 1 else 4
    paths = 8 * tables * (max_length + 1) * (model.max_n + 1)
    masks = 2 * max_length * (8 if wide else 4)
    letters = 4 * 4 * -(-max_length // WARP)
    return -(-(paths + masks + letters + 2 * max_length + 1) // 16) * 16


def _launches(batch: Batch) -> Iterator[tuple[DeviceArray, int]]:
    """Yield for each kernel launch its reference numbers, (n,) int32, and their maximum length."""
    if not len(batch.references):
        return
    cp = cupy()
    lengths = cp.diff(batch.references.offsets)
    order = cp.argsort(lengths)
    rooms = cp.asarray(np.array(ROOMS, np.int64))
    ends = cp.searchsorted(lengths[order], rooms, side="right").get().tolist()
    if ends[-1] < len(lengths):
        raise BadParams(f"references have up to {MAX_LENGTH} nucleotides; one is longer")
    order = order.astype(np.int32)
    for first, last, room in zip([0, *ends], ends, ROOMS, strict=False):
        if first < last:
            yield order[first:last], room


def _parts(batch: Batch) -> Iterator[DeviceArray | np.int32]:
    """Yield the arrays and sizes of a batch as kernel arguments of the exact types."""
    typed = cupy().ascontiguousarray
    for sequences in (batch.references, batch.v, batch.j, batch.d):
        yield typed(sequences.data, np.uint8)
        yield typed(sequences.offsets, np.int64)
        yield np.int32(len(sequences))
    yield typed(batch.v_of, np.int32)
    yield typed(batch.j_of, np.int32)


def _empty_ways(d_lengths: list[int], model: Model) -> DeviceArray:
    """Return Z, (n_d * pi,) uint64: the number of ways to delete each D gene completely."""
    pis = range(model.max_p + 1)
    ways = [[model.empty_d_ways(length, pi) for pi in pis] for length in d_lengths]
    on_device: DeviceArray = cupy().asarray(np.array(ways, np.uint64).reshape(-1))
    return on_device


def _pointers(counts: Counts) -> Iterator[DeviceArray]:
    """Yield the arrays of counts as kernel arguments; an empty array replaces None."""
    for field in fields(counts):
        array = getattr(counts, field.name)
        yield cupy().empty(0, np.uint64) if array is None else array


def _empty_counts(n: int, n_d: int, model: Model) -> Counts:
    """Return uninitialised count arrays of n references in device memory."""
    shapes = shapes_of(n, n_d, model)
    empty = cupy().empty
    return Counts(
        **{
            name: None if shape is None else empty(shape, _dtype(name))
            for name, shape in shapes.items()
        }
    )


def counts_bytes(n: int, n_d: int, model: Model) -> int:
    """Return the size of all count arrays of n references, in bytes."""
    shapes = shapes_of(n, n_d, model)
    return sum(_dtype(name).itemsize * prod(shape) for name, shape in shapes.items() if shape)


def run_bytes(batch: Batch, run: Run, model: Model) -> int:
    """Return the upper bound of the device memory, in bytes, to count a range of references.

    All germline parts of the batch are included.
    """
    n, starts = run.stop - run.start, batch.references.offsets
    parts = sum(part.data.nbytes + part.offsets.nbytes for part in (batch.v, batch.j, batch.d))
    codes = int(starts[run.stop] - starts[run.start])
    return codes + n * SORTING_BYTES + counts_bytes(n, len(batch.d), model) + parts + SMALL_BYTES


def _dtype(name: str) -> np.dtype[np.int16] | np.dtype[np.uint64]:
    return np.dtype(np.int16) if name in CALLS else np.dtype(np.uint64)


def run_of(batch: Batch, run: Run) -> Batch:
    """Return a range of the references as a batch in host memory, with all germline parts."""
    starts = batch.references.offsets[run.start : run.stop + 1]
    codes = batch.references.data[starts[0] : starts[-1]]
    references = RaggedArray(codes, starts - starts[0])
    return replace(batch, references=references, v_of=batch.v_of[run], j_of=batch.j_of[run])


def uploaded(batch: Batch) -> Batch:
    """Return a copy of the batch in device memory."""
    upload = cupy().asarray

    def moved(sequences: RaggedArray) -> RaggedArray:
        return RaggedArray(upload(sequences.data), upload(sequences.offsets))

    return Batch(
        references=moved(batch.references),
        v=moved(batch.v),
        j=moved(batch.j),
        v_of=upload(batch.v_of),
        j_of=upload(batch.j_of),
        d=moved(batch.d),
    )


def _each(counts: Counts, change: Callable[[DeviceArray], NumpyArray]) -> Counts:
    """Apply a function to every array of counts; None stays None."""
    arrays = {field.name: getattr(counts, field.name) for field in fields(Counts)}
    return Counts(**{name: None if a is None else change(a) for name, a in arrays.items()})


def _joined(runs: Sequence[Counts]) -> Counts:
    """Concatenate the counts of consecutive ranges of references."""
    joined = {}
    for field in fields(Counts):
        parts = [getattr(run, field.name) for run in runs]
        joined[field.name] = None if parts[0] is None else np.concatenate(parts)
    return Counts(**joined)
