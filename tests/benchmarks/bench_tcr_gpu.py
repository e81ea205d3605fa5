"""Path counting on a GPU: kernels by events, and the way from host arrays and back.

That the counts are right is held before, by checksums of the CPU's: `bench_parity_gpu`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from gangsaw.codecs.core.cuda.device import to_host
from gangsaw.codecs.core.cuda.launch import free_device_bytes
from gangsaw.codecs.core.cuda.streams import own_stream
from gangsaw.tasks.bench.device import launch_seconds, wall_seconds
from gangsaw.tasks.bench.table import Measurement, Row
from gangsaw.tasks.engine.scheduling.worker_pools import SLOTS
from gangsaw.tasks.tcr import Model
from gangsaw.tasks.tcr.counting.kernels import gpu
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch

TITLE = "Recombination paths on a GPU"
REFERENCES = 1 << 20  # 2.4 GB of counts: far beyond any cache
SHARE = 4  # of free device memory that they may take: counts of two rounds lie there at once
TASK = 1 << 16  # references that one thread counts at once
# D genes of the mouse; V and J parts are random, for no path depends on what they are called
D_GENES = ("GGGACAGGGGGC", "GGGACTGGGGGGGC")
V_LENGTHS, J_LENGTHS = (11, 12, 13, 14), (16, 18, 20, 22)


@dataclass(frozen=True)
class Case:
    """A row: what is counted, and how much is asked in millions of references a second."""

    what: str
    model: Model
    target: str = ""
    hosted: bool = False


CASES = (
    Case("DP-2, one strand, 2 D genes", Model(), ">= 10"),
    Case("DP-2, two strands, 2 D genes", Model(strands=2)),
    Case("DP-1, 2 D genes", Model("dp1")),
    Case("V-D-D-J, 2 D genes", Model(d_segments=2)),
    Case("DP-2, host arrays to host counts", Model(), hosted=True),
)


def tasks(rounds: int) -> list[Measurement]:
    """Return a task for each row; all count the same references."""
    some = cache(lambda: references(REFERENCES))

    def measured(row: Row, case: Case) -> Row:
        return _measured(row, case, some(), rounds)

    rows = ((case, Row(case.what, None, "M references/s", case.target)) for case in CASES)
    return [Measurement(row, partial(measured, row, case)) for case, row in rows]


def references(n: int) -> Batch:
    """Return n seeded references, mouse-like: of 34 nucleotides on average."""
    rng = np.random.default_rng(1)

    def parts(lengths: Sequence[int]) -> list[str]:
        return ["".join(rng.choice(list("ACGT"), length)) for length in lengths]

    return random_batch(parts(V_LENGTHS), D_GENES, parts(J_LENGTHS), n)


def _measured(row: Row, case: Case, batch: Batch, rounds: int) -> Row:
    bytes_each = gpu.counts_bytes(1, len(D_GENES), case.model)
    free = free_device_bytes() or len(batch.references) * bytes_each * SHARE
    some = first_of(batch, free // SHARE // bytes_each)
    seconds, note = (_hosted if case.hosted else _kernels)(some, case.model, rounds)
    return replace(row, value=len(some.references) / seconds / 1e6, note=note)


def first_of(batch: Batch, n: int) -> Batch:
    """Return the first n references."""
    return gpu.run_of(batch, slice(0, min(n, len(batch.references))))


def _kernels(batch: Batch, model: Model, rounds: int) -> tuple[float, str]:
    """Median seconds of the kernels, on references in device memory."""
    with own_stream():
        held = gpu.uploaded(batch)
        whole, kernels = launch_seconds(lambda: gpu.count(held, model), rounds)
        length = float(np.diff(to_host(held.references.offsets)).mean())
    rate = len(batch.references) / whole / 1e6
    return kernels, f"{length:.3g} nucleotides on average; {rate:.4g} M/s the whole call"


def _hosted(batch: Batch, model: Model, rounds: int) -> tuple[float, str]:
    """Median seconds by threads with a stream each."""
    n = len(batch.references)
    tasks = [gpu.run_of(batch, slice(i, min(n, i + TASK))) for i in range(0, n, TASK)]

    def work(task: Batch) -> None:
        gpu.count_hosted(task, model)  # counts are let go at once: of all they are gigabytes

    with ThreadPoolExecutor(SLOTS) as pool:
        list(pool.map(work, tasks))
        seconds = wall_seconds(lambda: list(pool.map(work, tasks)), rounds)
    return seconds, f"{SLOTS} threads, {TASK} references each; wall clock"
