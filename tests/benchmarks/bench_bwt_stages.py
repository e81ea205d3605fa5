"""Stages of the Burrows-Wheeler codec on one core: transform, inverse, entropy stages alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from bench_bwt import Text, shared

from gangsaw.codecs.bwt.params import EFFORTS
from gangsaw.codecs.bwt.payload import DENSE, FAST, STAGES
from gangsaw.codecs.bwt.transform.forward import transform
from gangsaw.codecs.bwt.transform.inverse import invert
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, cpu_seconds, say

BLOCK = 4 << 20
ROUNDS = 5
ASKED = {("dense", "encode"): ">= 50", ("dense", "decode"): ">= 50"}


class Cut(NamedTuple):
    """A block and its transform."""

    block: Text
    bwt: Text


def rows() -> Iterator[Row]:
    """Yield speeds of both transforms by input, then of each entropy stage over all files."""
    set_thread_limit(1)
    files = shared()
    if files:
        together = np.concatenate(list(files.values()))
        yield from _transforms("all files, one behind the other", np.resize(together, BLOCK))
    for name, block in made().items():
        yield from _transforms(name, block)
    cuts = [
        Cut(block, transform(block).bwt)
        for text in files.values()
        for block in np.split(text, range(BLOCK, text.size, BLOCK))
    ]
    for effort in EFFORTS if cuts else ():
        yield from _stage(effort, cuts)


def made() -> Mapping[str, Text]:
    """Return blocks that simple ways of sorting suffixes are slow on, and random bytes."""
    short, long = b"b", b"a"
    while len(long) < BLOCK:
        short, long = long, long + short
    random = np.random.default_rng(3).integers(0, 256, BLOCK, np.uint8)
    return {
        "one byte alone": np.zeros(BLOCK, np.uint8),
        "a period of 1,000": np.resize(random[:1000], BLOCK),
        "a Fibonacci word": np.frombuffer(long, np.uint8)[:BLOCK],
        "random bytes": random,
    }


def _transforms(name: str, block: Text) -> Iterator[Row]:
    say(name)
    bwt, at = transform(block)
    out = np.empty_like(block)
    works = {
        "transform": (partial(transform, block), ""),
        "inverse": (partial(invert, bwt, at, out), ">= 200"),
    }
    for word, (work, asked) in works.items():
        yield Row(f"{name}, 4 MiB, {word}", BLOCK / cpu_seconds(work, ROUNDS) / 1e6, "MB/s", asked)
    assert np.array_equal(out, block)


def _stage(effort: str, cuts: list[Cut]) -> Iterator[Row]:
    """Yield speeds of an entropy stage over the transforms of all files, its bytes checked."""
    stage = STAGES[{"dense": DENSE, "fast": FAST}[effort]]
    bodies = [stage.encode(cut.bwt, None) for cut in cuts]
    assert all(body is not None for body in bodies)
    outs = [np.empty_like(cut.bwt) for cut in cuts]

    def encode() -> None:
        for cut in cuts:
            stage.encode(cut.bwt, None)

    def decode() -> None:
        for body, out in zip(bodies, outs, strict=True):
            assert body is not None
            stage.decode(body, out)

    n = sum(cut.block.size for cut in cuts)
    for word, work in {"encode": encode, "decode": decode}.items():
        speed = n / cpu_seconds(work, ROUNDS) / 1e6
        yield Row(
            f"all files, {effort} alone, {word}", speed, "MB/s", ASKED.get((effort, word), "")
        )
    assert all(np.array_equal(out, cut.bwt) for out, cut in zip(outs, cuts, strict=True))
