"""Path counting on a GPU: kernels by events, and the way from host arrays and back."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace

import numpy as np

from gangsaw.codecs.core.cuda.device import to_host
from gangsaw.codecs.core.cuda.launch import free_bytes, timed_launches
from gangsaw.codecs.core.cuda.streams import own_stream
from gangsaw.codecs.core.errors import JobFailed
from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.engine.pools import SLOTS
from gangsaw.tasks.tcr import Model
from gangsaw.tasks.tcr.kernels import cpu, gpu
from gangsaw.tasks.tcr.kernels.batch import Batch, Counts
from gangsaw.tasks.tcr.paths.synthetic import random_batch

TITLE = "Recombination paths on a GPU"
REFERENCES = 1 << 20  # 2.4 GB of counts: far beyond any cache
SHARE = 4  # of free device memory that they may take: counts of two rounds lie there at once
CHECKED = 500  # references that are counted on the CPU, too
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


def rows(rounds: int | None) -> Iterator[Row]:
    """Yield every row; rounds : None where there is no device, so that none is measured."""
    batch = None if rounds is None else references(REFERENCES)
    for case in CASES:
        say(case.what)
        row = Row(case.what, None, "M references/s", case.target)
        yield row if batch is None or rounds is None else _measured(row, case, batch, rounds)


def references(n: int) -> Batch:
    """Return n seeded references, mouse-like: of 34 nucleotides on average."""
    rng = np.random.default_rng(1)

    def parts(lengths: Sequence[int]) -> list[str]:
        return ["".join(rng.choice(list("ACGT"), length)) for length in lengths]

    return random_batch(parts(V_LENGTHS), D_GENES, parts(J_LENGTHS), n)


def _measured(row: Row, case: Case, batch: Batch, rounds: int) -> Row:
    bytes_each = gpu.counts_bytes(1, len(D_GENES), case.model)
    free = free_bytes() or len(batch.references) * bytes_each * SHARE
    some = first_of(batch, free // SHARE // bytes_each)
    check(case.model, first_of(some, CHECKED))
    seconds, note = (_hosted if case.hosted else _kernels)(some, case.model, rounds)
    return replace(row, value=len(some.references) / seconds / 1e6, note=note)


def first_of(batch: Batch, n: int) -> Batch:
    """Return the first n references."""
    return gpu.run_of(batch, slice(0, min(n, len(batch.references))))


def check(model: Model, batch: Batch) -> None:
    """Raise JobFailed unless the GPU counts what the CPU does."""
    found, right = gpu.count_hosted(batch, model), cpu.count(batch, model)
    for field in fields(Counts):
        if not np.array_equal(getattr(found, field.name), getattr(right, field.name)):
            raise JobFailed(f"{field.name} of the GPU is not the CPU's")


def _kernels(batch: Batch, model: Model, rounds: int) -> tuple[float, str]:
    """Median seconds of the kernels, on references in device memory."""
    with own_stream():
        held = gpu.uploaded(batch)
        spans = [_round(lambda: gpu.count(held, model)) for _ in range(1 + rounds)][1:]
        length = float(np.diff(to_host(held.references.starts)).mean())
    whole, kernels = (statistics.median(times) for times in zip(*spans, strict=True))
    rate = len(batch.references) / whole / 1e6
    return kernels, f"{length:.3g} nucleotides on average; {rate:.4g} M/s the whole call"


def _round(work: Callable[[], object]) -> tuple[float, float]:
    with timed_launches() as kernels:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began, kernels()


def _hosted(batch: Batch, model: Model, rounds: int) -> tuple[float, str]:
    """Median seconds by threads with a stream each."""
    n = len(batch.references)
    tasks = [gpu.run_of(batch, slice(i, min(n, i + TASK))) for i in range(0, n, TASK)]
    spans = []

    def work(task: Batch) -> None:
        gpu.count_hosted(task, model)  # counts are let go at once: of all they are gigabytes

    with ThreadPoolExecutor(SLOTS) as pool:
        for _ in range(1 + max(3, rounds // 4)):
            began = time.perf_counter()
            list(pool.map(work, tasks))
            spans.append(time.perf_counter() - began)
    return statistics.median(spans[1:]), f"{SLOTS} threads, {TASK} references each; wall clock"
