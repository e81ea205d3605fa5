"""Its backend on a GPU, without a kernel; it notes how many blocks each call got."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.cuda.device import cupy, to_host
from gangsaw.codecs.core.cuda.launch import in_runs
from plain_codec import cpu
from plain_codec.codec import Params

CALLS: list[tuple[str, int]] = []


def encode(sources: Sequence[Any], params: Params, output: Output) -> None:
    def work(run: slice) -> None:
        CALLS.append(("encode", run.stop - run.start))
        copies = [cupy().ascontiguousarray(source) for source in sources[run]]
        alone = Output(len(copies))
        cpu.encode([to_host(copy) for copy in copies], params, alone)
        output.take_over(alone.runs(), run.start)

    in_runs(work, len(sources), lambda run: _bytes(sources[run]))


def decode(runs: Runs, targets: Sequence[Any], params: Params) -> None:
    def work(run: slice) -> None:
        CALLS.append(("decode", run.stop - run.start))
        host = [np.empty(target.shape, target.dtype) for target in targets[run]]
        cpu.decode(runs[run], host, params)
        for target, samples in zip(targets[run], host, strict=True):
            target[...] = cupy().asarray(samples)

    in_runs(work, len(targets), lambda run: _bytes(targets[run]))


def _bytes(blocks: Sequence[Any]) -> int:
    return sum(512 * (1 + block.nbytes // 512) for block in blocks)
