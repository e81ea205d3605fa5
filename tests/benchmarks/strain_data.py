"""Seeded strains of one genome, as a star: each differs from the first by itself.

Each gets substitutions at a rate, two of three of them transitions; insertions and deletions of 1
to 30 letters at a tenth of it; and, for each 4 Mb and 0.1 %, two inversions and two moves of 1 to
50 kb, four losses and four gains of 0.5 to 20 kb.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.nucleotides.alphabet import NOT_A_BASE
from gangsaw.codecs.core.nucleotides.codes import CODES, LETTER_OF_CODE

Codes = npt.NDArray[np.uint8]
WIDTH = 60
STEPS = np.array([2, 2, 2, 2, 1, 3], np.uint8)  # from a code to that of another base


def reference(path: Path) -> Codes:
    """Return the bases of packed FASTA as codes."""
    with gzip.open(path) as file:
        lines = (line.strip() for line in file if line[:1] != b">")
        codes = CODES[np.frombuffer(b"".join(lines), np.uint8)]
    return codes[codes != NOT_A_BASE]


def strains(first: Codes, n: int, rate: float, seed: int = 1) -> list[Codes]:
    """Return n genomes, the first of which is the one given."""
    rng = np.random.default_rng(seed)
    return [first, *(_strain(first, rate, rng) for _ in range(n - 1))]


def write(folder: Path, genomes: list[Codes]) -> list[str]:
    """Write a FASTA file of each; return their paths."""
    paths = []
    for i, codes in enumerate(genomes):
        text = LETTER_OF_CODE[codes].tobytes()
        lines = [text[at : at + WIDTH] for at in range(0, len(text), WIDTH)]
        paths.append(folder / f"s{i:03}.fa")
        paths[-1].write_bytes(b">s%03d\n" % i + b"\n".join(lines) + b"\n")
    return list(map(str, paths))


def _strain(codes: Codes, rate: float, rng: np.random.Generator) -> Codes:
    for _ in range(int(rng.poisson(2 * codes.size / 4e6 * rate / 1e-3))):
        for kind in ("invert", "move", "lose", "lose", "gain", "gain"):
            codes = _changed(codes, kind, rng)
    at = np.flatnonzero(rng.random(codes.size) < rate)
    codes = codes.copy()
    codes[at] = codes[at] + rng.choice(STEPS, at.size) & 3
    return _indels(codes, rate / 10, rng)


def _changed(codes: Codes, kind: str, rng: np.random.Generator) -> Codes:
    """Return letters of which a part is elsewhere, gone, turned or new."""
    low, high = (1000, 50_000) if kind in ("invert", "move") else (500, 20_000)
    size = min(int(np.exp(rng.uniform(np.log(low), np.log(high)))), codes.size // 4)
    at = int(rng.integers(0, codes.size - size))
    before, part, behind = codes[:at], codes[at : at + size], codes[at + size :]
    if kind == "invert":
        return np.concatenate((before, 3 - part[::-1], behind))
    if kind == "gain":
        return np.concatenate((before, rng.integers(0, 4, size, np.uint8), part, behind))
    rest = np.concatenate((before, behind))
    if kind == "lose":
        return rest
    to = int(rng.integers(0, rest.size))
    return np.concatenate((rest[:to], part, rest[to:]))


def _indels(codes: Codes, rate: float, rng: np.random.Generator) -> Codes:
    parts, before = list[Codes](), 0
    for place in np.flatnonzero(rng.random(codes.size) < rate).tolist():
        if place < before:
            continue
        size = min(30, int(rng.geometric(0.4)))
        parts.append(codes[before:place])
        before = place
        if rng.random() < 0.5:
            parts.append(rng.integers(0, 4, size, np.uint8))
        else:
            before += size
    return np.concatenate((*parts, codes[before:]))
