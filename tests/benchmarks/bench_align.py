"""Exact affine alignment on one core, beside parasail in the same rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.core.numba.jit import HAS_AVX512
from gangsaw.tasks.bench.table import Row, cpu_seconds
from gangsaw.tasks.genomics.align import Scores, needleman_wunsch, smith_waterman
from gangsaw.tasks.genomics.align.affine.ends import local_ends
from gangsaw.tasks.genomics.align.affine.rectangles import whole_rectangles
from gangsaw.tasks.genomics.align.sets.pairs import (
    Codes,
    decode_texts,
    pair_sequences,
    sequences_of,
)

ROUNDS = 5
PAIRS, QUERY, TARGET = 640, 250, 400
LONG = 20_000
EIGHT, SIXTEEN = Scores(1, -1, 2, 1), Scores(3, -3, 5, 2)  # whose scores fit 8 bits, and do not
SHARE = 1.0 if HAS_AVX512 else 0.5  # of what is asked
Texts = list[str]


def rows() -> Iterator[Row]:
    """Yield cells a second of batches and of long pairs, and as often parasail's."""
    set_thread_limit(1)
    queries, targets = _batch()
    yield from _local("250 x 400, 8 bits", queries, targets, EIGHT, (25, 4))
    yield from _local("250 x 400, 16 bits", queries, targets, SIXTEEN, (12, 3.5))
    yield from _others("250 x 400", queries, targets, SIXTEEN)
    target = _bases(LONG, 1)
    for name, query in (("5 %", _changed(target, 2)), ("unrelated", _bases(LONG, 3))):
        pair = [_text(query)], [_text(target)]
        yield from _local(f"20 kb, {name}", *pair, Scores(), (None, 1))
        yield from _others(f"20 kb, {name}", *pair, Scores())


def _local(
    name: str, queries: Texts, targets: Texts, scores: Scores, asked: tuple[float | None, float]
) -> Iterator[Row]:
    """Yield the speed of score and end, which parasail tells as well."""
    parts = whole_rectangles(pair_sequences(queries, targets))
    ours = _speed(lambda: local_ends(parts, scores), queries, targets)
    target = "" if asked[0] is None else f">= {asked[0] * SHARE}"
    yield Row(f"Smith-Waterman, score and end, {name}", ours, "GCUPS", target)
    functions = ("sw_striped_8", "sw_striped_16") if "8 bits" in name else ("sw_striped_16",)
    best = max(_of_parasail(function, queries, targets, scores) for function in functions)
    if best:
        note = f"parasail's {' or '.join(functions)}: {best:.3g} GCUPS"
        yield Row("as often parasail's", ours / best, "times", f">= {asked[1] * SHARE}", note)


def _others(name: str, queries: Texts, targets: Texts, scores: Scores) -> Iterator[Row]:
    """Yield the speeds of whole results, with starts and CIGARs."""
    made = queries, targets, scores
    for what, cigar in (("score, start and end", False), ("CIGAR, too", True)):
        speed = _speed(lambda cigar=cigar: smith_waterman(*made, cigar=cigar), queries, targets)
        yield Row(f"Smith-Waterman, {what}, {name}", speed, "GCUPS", "", "cells of a pair once")
    peer = _of_parasail("nw_striped_32", queries, targets, scores)
    speed = _speed(lambda: needleman_wunsch(*made), queries, targets)
    note = f"parasail's nw_striped_32: {peer:.3g} GCUPS" if peer else ""
    yield Row(f"Needleman-Wunsch, score, {name}", speed, "GCUPS", "", note)
    speed = _speed(lambda: needleman_wunsch(*made, cigar=True), queries, targets)
    yield Row(f"Needleman-Wunsch, CIGAR, too, {name}", speed, "GCUPS")


def _speed(work: Callable[[], object], queries: Texts, targets: Texts) -> float:
    cells = sum(len(q) * len(t) for q, t in zip(queries, targets, strict=True))
    return cells / cpu_seconds(work, ROUNDS) / 1e9


def _of_parasail(name: str, queries: Texts, targets: Texts, scores: Scores) -> float:
    """Return parasail's cells a second, in 10^9; 0 where it is not installed."""
    if find_spec("parasail") is None:
        return 0.0
    parasail = import_module("parasail")
    align = getattr(parasail, name)
    matrix = parasail.matrix_create("ACGT", scores.match, scores.mismatch)
    gaps = scores.gap_open + scores.gap_extend, scores.gap_extend
    pairs = list(zip(queries, targets, strict=True))
    return _speed(lambda: [align(q, t, *gaps, matrix) for q, t in pairs], queries, targets)


def _bases(n: int, seed: int) -> Codes:
    return np.random.default_rng(seed).integers(0, 4, n).astype(np.uint8)


def _changed(codes: Codes, seed: int) -> Codes:
    """Return codes with 5 % changes: substitutions for 3.5 %, lost and doubled bases for 1.5 %."""
    rng = np.random.default_rng(seed)
    kind = rng.random(codes.size)
    codes = np.where(kind < 0.035, (codes + rng.integers(1, 4, codes.size)) % 4, codes)
    times = np.where(kind > 0.9925, 2, np.where(kind > 0.985, 0, 1))
    return np.repeat(codes, times).astype(np.uint8)


def _text(codes: Codes) -> str:
    return decode_texts(sequences_of((codes, np.array([0, codes.size]))))[0]


def _batch() -> tuple[Texts, Texts]:
    """Return pairs of which each query is a part of its target, with 5 % substitutions."""
    targets = [_bases(TARGET, seed) for seed in range(PAIRS)]
    queries = []
    for seed, target in enumerate(targets):
        query = target[40 : 40 + QUERY].copy()
        changed = np.random.default_rng(seed + PAIRS).random(QUERY) < 0.05
        query[changed] = (query[changed] + 1) % 4
        queries.append(_text(query))
    return queries, [_text(target) for target in targets]
