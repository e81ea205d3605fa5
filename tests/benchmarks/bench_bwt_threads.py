"""The article's experiment: one file, threads 1 to n, wall-clock time to encode and to decode."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from bench_bwt import Text, shared

from gangsaw.codecs import Bwt
from gangsaw.codecs.bwt.params import EFFORTS
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, say, seconds_in_turn

ROUNDS = 3


def rows() -> Iterator[Row]:
    """Yield seconds by effort, direction and threads."""
    files = list(shared().values())
    if not files:
        return
    text = np.concatenate(2 * files)
    for effort in EFFORTS:
        say(effort)
        yield from _of(effort, text)
    set_thread_limit(None)


def _of(effort: str, text: Text) -> Iterator[Row]:
    codec, out = Bwt(effort=effort), np.empty_like(text)
    frame = bytes(codec.encode_chunk(text))
    works: dict[str, Callable[[], object]] = {
        "encode": partial(codec.encode_chunk, text),
        "decode": partial(codec.decode_chunk, frame, out),
    }
    for word, work in works.items():
        cores = range(1, (os.cpu_count() or 1) + 1)
        found = seconds_in_turn([partial(_with, n, work) for n in cores], ROUNDS)
        alone = float(np.median(found[0]))
        for n, spans in zip(cores, found, strict=True):
            seconds = float(np.median(spans))
            note = f"{text.size / 1e6 / seconds:.3g} MB/s, {alone / seconds:.2f} times one thread's"
            yield Row(f"bwt {effort}, {word}, {n} threads", seconds, "s", note=note)


def _with(threads: int, work: Callable[[], object]) -> None:
    set_thread_limit(threads)
    work()
