"""The experiments of Satyanvesh, Kaliuday and Baruah (2015): compression, times, gapped scores."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gangsaw.codecs.dna.codec import Dna
from gangsaw.codecs.dna.gencodex.coding import put_runs
from gangsaw.tasks.bench.table import Row, cpu_seconds, say
from gangsaw.tasks.genomics.align import Scores, gapped, smith_waterman, ungapped
from gangsaw.tasks.genomics.align.packed.bases import packed_of, unpack_sequence

FOLDER = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/genomes/assemblies"
UNGAPPED, LARGE = 285_000, 44_800_000  # bytes; taken as packed ones
GAPPED = (8_683, 175_019)  # bytes; taken as packed ones, and the smaller as rows
MODES = ("pack", "gencodex")
SHARES = (0.01, 0.03, 0.05, 0.10, 0.15, 0.20)
EXACT = {"A": Scores(1, 0, 2, 1), "B": Scores(1, -1, 2, 1)}  # with the same scheme
BASES = 8000


def random_text(rng: np.random.Generator, n: int) -> str:
    """Return bases that are equally likely."""
    return np.frombuffer(b"ACGT", np.uint8)[rng.integers(0, 4, n)].tobytes().decode()


def mutant(rng: np.random.Generator, text: str, share: float) -> str:
    """Return a text with a share of changes: 70 % other bases, 15 % left out, 15 % put in."""
    made = []
    for base, chance in zip(text, rng.random(len(text)) / share, strict=True):
        if chance < 0.7:
            made.append("ACGT".replace(base, "")[rng.integers(3)])
        elif not 0.7 <= chance < 0.85:
            made.append(base + ("ACGT"[rng.integers(4)] if chance < 1 else ""))
    return "".join(made)


def rows() -> Iterator[Row]:
    """Yield bits a base of each sequence, both times, and shares of exact scores."""
    yield from _compression()
    yield from _times()
    yield from _scores()


def _letters(name: str) -> str:
    """Return the bases ACGT of a file of the shared folder, in capitals."""
    with gzip.open(FOLDER / name, "rt") as file:
        text = file.read()
    lines = "".join(line for line in text.splitlines() if not line.startswith(">")).upper()
    return "".join(base for base in lines if base in "ACGT")


def _compression() -> Iterator[Row]:
    for path in sorted(FOLDER.glob("*.f*a.gz")):
        say(path.name)
        packed = packed_of(_letters(path.name))
        text = np.frombuffer(b"ACGT", np.uint8)[unpack_sequence(packed).codes]
        stored = {m: 8 * len(Dna(mode=m).encode_chunk(text)) / text.size for m in MODES}
        runs = 8 * int(put_runs(packed.data, np.empty(2 * packed.data.size + 9, np.uint8)))
        bits = runs / packed.bases
        name = path.name.partition(".")[0]
        note = f"stored frames: gencodex {stored['gencodex']:.4f}, pack {stored['pack']:.4f}"
        yield Row(f"{name}, the paper's runs", bits, "bits a base", "<= 1.77", note, stored)


def _times() -> Iterator[Row]:
    rng = np.random.default_rng(8)
    query, target = (
        packed_of(random_text(rng, 4 * UNGAPPED)),
        packed_of(random_text(rng, 4 * LARGE)),
    )
    target.data[-UNGAPPED:] = query.data
    # one seed a byte of the query against one region, as many as fit, both ways
    seeds = (4 * np.arange(UNGAPPED, dtype=np.int64), 4 * rng.integers(0, LARGE, UNGAPPED))
    many = cpu_seconds(lambda: ungapped(query, target, seeds), 3)
    note = "285 kB x 44.8 MB, a random place for each byte; the paper 4.2 ms, on a K20 0.074"
    yield Row("ungapped, 285,000 seeds", many * 1e3, "ms", "", note)
    end = (np.zeros(1, np.int64), np.full(1, 4 * (LARGE - UNGAPPED)))
    one = cpu_seconds(lambda: ungapped(query, target, end), 3)
    yield Row("ungapped, one hit of all 285 kB", one * 1e3, "ms", "", "equal bases, one seed")
    small, large = (packed_of(random_text(rng, 4 * n)) for n in GAPPED)
    seconds = cpu_seconds(lambda: gapped(small, large), 1)
    speed = small.bases * GAPPED[1] / seconds / 1e9
    note = f"{speed:.2f} G byte cells/s; the paper 25.08 s on one core, 1.83 on 16"
    figures = {"giga_cells": speed}
    yield Row("gapped, 8,683 x 175,019 bytes, one core", seconds, "s", "<= 25.08", note, figures)


def _scores() -> Iterator[Row]:
    rng = np.random.default_rng(9)
    query = random_text(rng, BASES)
    pairs = {f"mutant, {share:.0%}": (query, mutant(rng, query, share)) for share in SHARES}
    pairs["unrelated"] = query, random_text(rng, BASES)
    if FOLDER.is_dir():
        files = "human_mito.fa.gz", "orangutan_mito.fa.gz"
        pairs["human and orangutan mitochondrion"] = _letters(files[0]), _letters(files[1])
    for name, (ours, theirs) in pairs.items():
        for reading, scores in EXACT.items():
            score = gapped(ours, theirs, reading)
            exact = int(smith_waterman([ours], [theirs], scores).score[0])
            asked = "" if name == "unrelated" else ">= 0.75"
            note = f"{score} of {exact}"
            yield Row(
                f"{name}, reading {reading}, of Smith-Waterman", score / exact, "", asked, note
            )
