"""Edit distances beside edlib's, on the same texts in the same run: many short pairs, long ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from bench_dna_paper import mutant, random_text

from gangsaw.tasks.bench.table import Row, cpu_seconds
from gangsaw.tasks.genomics.align import edit_distance, edit_paths
from gangsaw.tasks.genomics.align.sets.pairs import sequences_of

MODES = {"global": "NW", "infix": "HW", "prefix": "SHW"}
PAIRS, SHARE = 2000, 0.05
LONG, LONGER = 10_000, 100_000
FASTER = 5  # times edlib, with the path


def rows() -> Iterator[Row]:
    """Yield cells a second of each size and mode, edlib's in the remark."""
    rng = np.random.default_rng(7)
    for bases in (64, 256):
        queries = [random_text(rng, bases) for _ in range(PAIRS)]
        targets = [(mutant(rng, q, SHARE) + random_text(rng, bases))[:bases] for q in queries]
        for mode in MODES:
            asked = 50.0 if mode == "global" else 0.0
            yield _row(f"{PAIRS} pairs of {bases} bases", queries, targets, mode, asked)
    query = random_text(rng, LONG)
    for name, target in (
        ("1 %", mutant(rng, query, 0.01)),
        ("5 %", mutant(rng, query, 0.05)),
        ("unrelated", random_text(rng, LONG)),
    ):
        for mode in MODES:
            yield _row(f"a pair of {LONG} bases, {name}", [query], [target], mode)
    for bases in (LONG, LONGER):
        query = random_text(rng, bases)
        for share in (0.01, 0.05, 0.1):
            what = f"a pair of {bases} bases, {share:.0%}"
            yield _path_row(what.replace("%", " %"), query, mutant(rng, query, share))


def _row(what: str, queries: list[str], targets: list[str], mode: str, asked: float = 0.0) -> Row:
    import edlib

    pairs = list(zip(queries, targets, strict=True))

    def theirs() -> list[int]:
        return [edlib.align(*p, mode=MODES[mode], task="distance")["editDistance"] for p in pairs]

    assert edit_distance(queries, targets, mode).tolist() == theirs()
    giga = sum(len(q) * len(t) for q, t in pairs) / 1e9
    peer = giga / cpu_seconds(theirs)
    codes = sequences_of(queries), sequences_of(targets)
    value = giga / cpu_seconds(lambda: edit_distance(*codes, mode))
    texts = giga / cpu_seconds(lambda: edit_distance(queries, targets, mode))
    note = f"of texts, made codes first, {texts:.3g}; edlib, of texts, {peer:.3g}"
    return Row(f"{what}, {mode}", value, "GCUPS", f">= {asked or peer:.3g}", note)


def _path_row(what: str, query: str, target: str) -> Row:
    """Times of the distance and the CIGAR from end to end."""
    import edlib

    def theirs(task: str) -> int:
        found = edlib.align(query, target, mode="NW", task=task)
        return int(found["editDistance"])

    assert edit_paths([query], [target]).distance.tolist() == [theirs("path")]
    peer = 1e3 * cpu_seconds(lambda: theirs("path"))
    alone, peer_alone = (
        1e3 * cpu_seconds(work)
        for work in (lambda: edit_distance([query], [target]), lambda: theirs("distance"))
    )
    value = 1e3 * cpu_seconds(lambda: edit_paths([query], [target]))
    note = f"edlib {peer:.3g}; of the distance alone {alone:.3g}, edlib {peer_alone:.3g}"
    return Row(f"{what}, global, with its path", value, "ms", f"<= {peer / FASTER:.3g}", note)
