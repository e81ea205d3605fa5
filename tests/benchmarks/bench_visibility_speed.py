"""Speed of the visibility codec and its peers: one thread, two threads, parts of a chunk."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from two_cores import two_cores
from visibility_data import (
    EFFORTS,
    SYNTHETIC,
    Cube,
    coder_of,
    efforts,
    real_cubes,
    synthetic,
)
from visibility_peers import peers

from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.memory.threads import run_blocks, set_thread_limit
from gangsaw.tasks.bench.host import Result, measure
from gangsaw.tasks.bench.table import Row, say, seconds_in_turn

ASKED = {"dense": (">= 150", ">= 600"), "fast": (">= 2000", ">= 4000")}  # MB/s of one core
ROUNDS = 5  # neighbours on a shared machine slow some of them down by half
PARTS: dict[str, Any] = {  # of (time, frequency, baseline * polarisation)
    "one number": np.s_[0, 0, 0],
    "one baseline at all times and channels": np.s_[:, :, 400:404],
    "one time step": np.s_[5],
    "one channel": np.s_[:, 5],
}


def rows() -> Iterator[Row]:
    """Yield MB/s of one core, then what a second thread gains, then what a part costs."""
    set_thread_limit(1)
    yield from _speeds(SYNTHETIC, [_measured(SYNTHETIC, synthetic())])
    real = [_measured(name, cube) for name, cube in real_cubes()]
    if real:
        yield from _speeds("all real files", real)
    set_thread_limit(None)
    yield two_cores()
    yield _copied(synthetic())
    for effort in EFFORTS:
        yield from _threads(effort, synthetic())
        yield from _parts(effort, synthetic())


def _measured(name: str, cube: Cube) -> list[Result]:
    say(name)
    return measure(cube, [*efforts(cube), *peers(cube)], ROUNDS)


def _speeds(what: str, cubes: Sequence[Sequence[Result]]) -> Iterator[Row]:
    """Yield compress and decompress of each codec that takes all cubes, and of those it takes."""
    by_name: dict[str, list[Result]] = {}
    for result in (result for results in cubes for result in results):
        by_name.setdefault(result.name, []).append(result)
    for direction, word in enumerate(("compress", "decompress")):
        for name, results in by_name.items():
            asked = ASKED[name][direction] if name in ASKED else ""
            yield Row(f"{word} {what}, {name}", _rate(results, direction), "MB/s", asked)


def _rate(results: Sequence[Result], direction: int) -> float:
    """MB/s over several cubes: all bytes over the sum of the medians."""
    spans = [(r.encode_seconds, r.decode_seconds)[direction] for r in results]
    return sum(r.raw_bytes for r in results) / sum(map(statistics.median, spans)) / 1e6


def _copied(cube: Cube) -> Row:
    """Return how many times as fast two threads copy the cube: `fast` takes little more time."""
    say("copying, two threads")
    out = np.empty_like(cube)

    def copy(t: int) -> None:
        np.copyto(out[t], cube[t])

    works = [_limited(n, partial(run_blocks, copy, len(cube))) for n in (1, 2)]
    one, two = (np.array(spans) for spans in seconds_in_turn(works))
    what = f"two threads against one, {SYNTHETIC} copied: the machine's memory"
    speed = f"{cube.nbytes / np.median(two) / 1e6:.0f} MB/s"
    return Row(what, float(np.median(one / two)), "times", "", speed)


def _threads(effort: str, cube: Cube) -> Iterator[Row]:
    """Yield how many times as fast two threads are: wall clock, in turn, medians of the rounds."""
    say(f"{effort}, two threads")
    coder, out = coder_of(cube, effort=effort), np.empty_like(cube)
    data = coder.encode(cube)
    for word, work in (
        ("compress", partial(coder.encode, cube)),
        ("decompress", partial(coder.decode, data, out)),
    ):
        one, two = (np.array(s) for s in seconds_in_turn([_limited(n, work) for n in (1, 2)]))
        speed = f"{cube.nbytes / np.median(two) / 1e6:.0f} MB/s"
        what = f"two threads against one, {word} {SYNTHETIC}, {effort}"
        yield Row(what, float(np.median(one / two)), "times", ">= 1.7", speed)


def _limited(n: int, work: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        set_thread_limit(n)
        work()
        set_thread_limit(None)

    return run


def _parts(effort: str, cube: Cube) -> Iterator[Row]:
    """Yield the share of the whole chunk's time that a part takes, one thread, bytes in memory."""
    say(f"{effort}, parts")
    coder = coder_of(cube, effort=effort)
    data = coder.encode(cube)
    set_thread_limit(1)
    for name, selection in PARTS.items():
        fetched = _read(coder, data, selection, np.empty_like(cube))
        works = [
            partial(_read, coder, data, part, np.empty_like(cube)) for part in (..., selection)
        ]
        whole, part = (statistics.median(spans) for spans in seconds_in_turn(works))
        note = f"{1e3 * part:.3g} ms; {100 * fetched / len(data):.3g} % of the chunk's bytes"
        what = f"decode {name} of {SYNTHETIC}, {effort}, of the whole chunk's time"
        yield Row(what, 100 * part / whole, "%", "", note)
    set_thread_limit(None)


def _read(coder: ChunkCoder, data: memoryview, selection: Any, out: Cube) -> int:
    """Decode what a selection touches, and check nothing; return the bytes that were fetched."""
    reader, n_bytes = coder.read(selection), 0
    wanted = next(reader)
    while True:
        parts = [data if wish is None else data[slice(*wish)] for wish in wanted]
        n_bytes += sum(map(len, parts))
        try:
            wanted = reader.send(parts)
        except StopIteration as end:
            coder.fill([end.value], [out])
            return n_bytes
