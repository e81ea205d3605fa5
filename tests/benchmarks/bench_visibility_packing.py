"""Prefix sums against independent blocks, as the founding paper asks: threads and block sizes."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
from visibility_data import Cube, synthetic
from visibility_packing import Room, Words, pack, unpack

from gangsaw.codecs.core.errors import JobFailed
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.visibility.words.pack import UNIT_SHIFTS
from gangsaw.tasks.bench.table import Row, say, seconds_in_turn

SEGMENTS = (1 << 10, 1 << 13, 1 << 16, 1 << 20)  # words
THREADS = (1, 2)
WAYS = {"prefix sums": False, "independent blocks": True}
CHANNELS = 32  # of the synthetic cube: 33 MB
DIRECTIONS = ("compress", "decompress")


@dataclass(frozen=True)
class Speed:
    """One case, measured.

    Attributes
    ----------
    seconds : of compressing and of decompressing, of each round
    stored_bytes : of all
    """

    packing: str
    segment: int
    threads: int
    way: str
    seconds: tuple[Sequence[float], Sequence[float]]
    stored_bytes: int


def rows() -> Iterator[Row]:
    """Yield how much faster independent blocks are, then GB/s of each case."""
    words = residuals(synthetic()[:, :CHANNELS])
    speeds = [speed for case in product(UNIT_SHIFTS, SEGMENTS) for speed in _measured(words, *case)]
    for direction, threads in product(range(2), THREADS):
        yield _compared(speeds, direction, threads)
    yield from (_row(speed, words) for speed in speeds)


def residuals(cube: Cube) -> Words:
    """Return the words of a cube, time innermost, each XORed with the one before it in time."""
    bits = np.moveaxis(cube.view(np.uint32), 0, -1)
    return (bits ^ np.concatenate([bits[..., :1] * 0, bits[..., :-1]], axis=-1)).ravel()


def _measured(words: Words, packing: str, segment: int) -> Iterator[Speed]:
    """Measure both ways on each number of threads, all in turn."""
    say(f"{packing}, {segment} words")
    cases, works, sizes = list(product(THREADS, WAYS)), [], []
    for threads, way in cases:
        compress, decompress, stored = _works(words, packing, segment, WAYS[way])
        works += [partial(_on_threads, threads, work) for work in (compress, decompress)]
        sizes.append(stored)
    spans = seconds_in_turn(works)
    for (threads, way), stored, i in zip(cases, sizes, range(0, len(works), 2), strict=True):
        yield Speed(packing, segment, threads, way, (spans[i], spans[i + 1]), stored)


def _works(
    words: Words, packing: str, segment: int, independent: bool
) -> tuple[Callable[[], object], Callable[[], object], int]:
    """Return the two directions, checked, and the bytes."""
    shift, room = UNIT_SHIFTS[packing], Room(words.size, segment)
    packed, back = pack(words, segment, shift, independent, room), np.empty_like(words)
    unpack(packed, segment, shift, independent, back)
    if not np.array_equal(back, words):
        raise JobFailed(f"{packing}, {segment} words: the words do not come back")
    return (
        partial(pack, words, segment, shift, independent, room),
        partial(unpack, packed, segment, shift, independent, back),
        packed.stored_bytes,
    )


def _on_threads(n: int, work: Callable[[], object]) -> None:
    set_thread_limit(n)
    work()
    set_thread_limit(None)


def _compared(speeds: Sequence[Speed], direction: int, threads: int) -> Row:
    """Median over all rounds, block sizes and packings of prefix sums' time over blocks' time."""
    stream, blocks = (
        np.array([s.seconds[direction] for s in speeds if (s.way, s.threads) == (way, threads)])
        for way in WAYS
    )
    what = f"independent blocks against prefix sums, {DIRECTIONS[direction]}, {_count(threads)}"
    return Row(what, float(np.median(stream / blocks)), "times")


def _row(speed: Speed, words: Words) -> Row:
    compress, decompress = (words.nbytes / statistics.median(s) / 1e9 for s in speed.seconds)
    stored = 100 * speed.stored_bytes / words.nbytes
    what = f"{speed.way}, {speed.packing}, {speed.segment} words, {_count(speed.threads)}, compress"
    figures = {"threads": speed.threads, "words": speed.segment, "decompress": decompress}
    note = f"decompress {decompress:.3g} GB/s; {stored:.4g} % of the bytes"
    return Row(what, compress, "GB/s", "", note, figures)


def _count(threads: int) -> str:
    return "one thread" if threads == 1 else f"{threads} threads"
