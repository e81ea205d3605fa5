"""FM-indexes of E. coli and of files of text on one core: made, opened, counted, located, sizes."""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gangsaw.tasks.bench.table import Row, cpu_seconds, dump
from gangsaw.tasks.index.text.base_index import BaseIndex, codes_for
from gangsaw.tasks.index.text.byte_index import ByteIndex
from gangsaw.tasks.index.text.kinds import TextIndex, opened
from gangsaw.tasks.sequences.ragged import Ragged

SHARED = Path(os.environ.get("GANGSAW_SHARED", "../shared"))
GENOME = SHARED / "data/genomes/assemblies/ecoli_K12_MG1655.fna.gz"
TEXTS = ("alice29.txt", "lcet10.txt", "apache_logs", "silesia_xml", "silesia_mr_2MB")
PATTERNS, ROUNDS = 400_000, 3
TEXT_PATTERNS = 50_000
MERS, OCTETS = 20, 8

Octets = npt.NDArray[np.uint8]


def rows() -> Iterator[Row]:
    """Yield rows of bases, then of each text."""
    yield from _of_bases()
    for name in TEXTS:
        yield from _of_text(name)


def _of_bases() -> Iterator[Row]:
    text = b"".join(gzip.decompress(GENOME.read_bytes()).split(b"\n")[1:])
    letters = np.frombuffer(text, np.uint8)
    index = BaseIndex.made(letters)
    yield from _made("E. coli", index, partial(BaseIndex.made, letters), letters.size, 0.65)
    rng = np.random.default_rng(1)
    patterns = _windows(codes_for(text), MERS, PATTERNS, rng)
    seconds = cpu_seconds(partial(index.rows, patterns), ROUNDS)
    yield Row("E. coli: 20-mers counted", PATTERNS / seconds / 1e6, "M/s", ">= 3")
    places = rng.integers(0, letters.size + 1, PATTERNS)
    seconds = cpu_seconds(partial(index.places, places), ROUNDS)
    yield Row("E. coli: rows located, rate 32", PATTERNS / seconds / 1e6, "M/s", ">= 4")


def _of_text(name: str) -> Iterator[Row]:
    letters = np.fromfile(SHARED / "data/text" / name, np.uint8)
    index = ByteIndex.made(letters)
    yield from _made(name, index, partial(ByteIndex.made, letters), letters.size, 1.2)
    rng = np.random.default_rng(1)
    patterns = _windows(letters, OCTETS, TEXT_PATTERNS, rng)
    seconds = cpu_seconds(partial(index.rows, patterns), ROUNDS)
    yield Row(f"{name}: 8 bytes counted", TEXT_PATTERNS / seconds / 1e6, "M/s", ">= 0.3")
    places = rng.integers(0, letters.size + 1, TEXT_PATTERNS)
    seconds = cpu_seconds(partial(index.places, places), ROUNDS)
    yield Row(f"{name}: rows located, rate 64", TEXT_PATTERNS / seconds / 1e6, "M/s")


def _made(
    name: str, index: TextIndex, make: partial[TextIndex], n: int, most: float
) -> Iterator[Row]:
    packed = index.packed()
    yield Row(f"{name}: index", packed.size / n, "bytes a letter", f"<= {most}")
    yield Row(f"{name}: made", n / cpu_seconds(make, ROUNDS) / 1e6, "MB/s", ">= 10")
    seconds = cpu_seconds(partial(opened, packed), ROUNDS)
    yield Row(f"{name}: opened and checked", n / seconds / 1e6, "MB/s")


def _windows(text: Octets, n: int, count: int, rng: np.random.Generator) -> Ragged:
    places = rng.integers(0, text.size - n, count)
    data = np.ascontiguousarray(text[places[:, None] + np.arange(n)]).ravel()
    return Ragged(data, np.arange(0, count * n + 1, n))


if __name__ == "__main__":
    sys.stdout.write(dump({"FM-indexes on one core": list(rows())}))
