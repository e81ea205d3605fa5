"""Indexes of E. coli, made strains and files of text on one core: sizes and speeds."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from gangsaw import compress, search
from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.bench.table import Row, cpu_seconds
from gangsaw.tasks.search.fm_index.base_index import BaseIndex
from gangsaw.tasks.search.fm_index.base_runs import codes_for
from gangsaw.tasks.search.fm_index.byte_index import ByteIndex
from gangsaw.tasks.search.fm_index.kinds import TextIndex, build_text_index, open_index
from gangsaw.tasks.search.results import scan
from gangsaw.tasks.search.results.lines import TextLines

SHARED = Path(os.environ.get("GANGSAW_SHARED", "../shared"))
GENOME = SHARED / "data/genomes/assemblies/ecoli_K12_MG1655.fna.gz"
TEXTS = ("alice29.txt", "lcet10.txt", "apache_logs", "silesia_xml", "silesia_mr_2MB")
PATTERNS, ROUNDS = 400_000, 3
TEXT_PATTERNS = 50_000
MERS, OCTETS = 20, 8
MANY_HITS, DENSE_PATTERNS, LONG_LINE = "lcet10.txt", 180, 100_000
LETTERS = b"abcdefghijklmnopqrstuvwxyz"
STRAINS, STRAIN, STRAIN_PATTERNS = (10, 100, 300), 20_000, 5_000

Octets = npt.NDArray[np.uint8]


def rows() -> Iterator[Row]:
    """Yield rows of bases, then of each text; none without the shared folder."""
    if not GENOME.is_file():
        return
    set_thread_limit(1)
    yield from _of_bases()
    for n in STRAINS:
        yield from _of_strains(n)
    for name in TEXTS:
        yield from _of_text(name)
    yield from _of_many_hits()


def _of_bases() -> Iterator[Row]:
    text = b"".join(gzip.decompress(GENOME.read_bytes()).split(b"\n")[1:])
    letters = np.frombuffer(text, np.uint8)
    index = BaseIndex.build(letters)
    yield from _made("E. coli", index, partial(BaseIndex.build, letters), letters.size, 0.65)
    rng = np.random.default_rng(1)
    patterns = _windows(codes_for(text), MERS, PATTERNS, rng)
    seconds = cpu_seconds(partial(index.rows, patterns), ROUNDS)
    yield Row("E. coli: 20-mers counted", PATTERNS / seconds / 1e6, "M/s", ">= 3")
    places = rng.integers(0, letters.size + 1, PATTERNS)
    seconds = cpu_seconds(partial(index.places, places), ROUNDS)
    yield Row("E. coli: rows located, rate 32", PATTERNS / seconds / 1e6, "M/s", ">= 4")


def _of_strains(n: int) -> Iterator[Row]:
    """Yield rows of n strains of a short genome, which differ at a place in a thousand."""
    rng = np.random.default_rng(7)
    strain = rng.choice(np.frombuffer(b"ACGT", np.uint8), STRAIN)
    letters = np.tile(strain, n)
    changed = rng.integers(0, letters.size, letters.size // 1000)
    letters[changed] = rng.choice(np.frombuffer(b"ACGT", np.uint8), changed.size)
    borders = np.arange(0, letters.size, STRAIN)
    index = build_text_index("bases", letters, borders, 32)
    make = partial(build_text_index, "bases", letters, borders, 32)
    yield from _made(f"{n} strains", index, make, letters.size, 0.65)
    patterns = _windows(codes_for(letters.tobytes()), MERS, STRAIN_PATTERNS, rng)
    seconds = cpu_seconds(partial(index.counts, patterns), ROUNDS)
    yield Row(f"{n} strains: 20-mers counted", STRAIN_PATTERNS / seconds / 1e6, "M/s")
    places, _ = index.locate(patterns)
    seconds = cpu_seconds(partial(index.locate, patterns), ROUNDS)
    yield Row(f"{n} strains: places located", places.size / seconds / 1e6, "M/s")


def _of_text(name: str) -> Iterator[Row]:
    letters = np.fromfile(SHARED / "data/text" / name, np.uint8)
    index = ByteIndex.build(letters)
    yield from _made(name, index, partial(ByteIndex.build, letters), letters.size, 1.2)
    rng = np.random.default_rng(1)
    patterns = _windows(letters, OCTETS, TEXT_PATTERNS, rng)
    seconds = cpu_seconds(partial(index.rows, patterns), ROUNDS)
    yield Row(f"{name}: 8 bytes counted", TEXT_PATTERNS / seconds / 1e6, "M/s", ">= 0.3")
    places = rng.integers(0, letters.size + 1, TEXT_PATTERNS)
    seconds = cpu_seconds(partial(index.places, places), ROUNDS)
    yield Row(f"{name}: rows located, rate 64", TEXT_PATTERNS / seconds / 1e6, "M/s")


def _of_many_hits() -> Iterator[Row]:
    """Yield rows of patterns that are there at most places, in a text of lines of 100 kB."""
    text = (SHARED / "data/text" / MANY_HITS).read_bytes()
    words = sorted(set(text[:200_000].split()))[: DENSE_PATTERNS - len(LETTERS)]
    patterns = [*(bytes([letter]) for letter in LETTERS), *words]
    spaced = bytearray(text.replace(b"\n", b" "))
    spaced[LONG_LINE::LONG_LINE] = b"\n" * len(range(LONG_LINE, len(spaced), LONG_LINE))
    name = f"{MANY_HITS}: {len(patterns)} patterns, {len(LETTERS)} of them letters"
    with TemporaryDirectory() as folder:
        (Path(folder) / "text.log").write_bytes(spaced)
        store = f"{folder}/text.zarr"
        compress(f"{folder}/text.log", store)
        search.index(store)
        opened_text = search.open(store)
        hits = opened_text.locate(patterns)
        seconds = cpu_seconds(partial(opened_text.locate, patterns), ROUNDS)
        with patch.object(scan, "LEAST", len(text) * len(patterns)):
            walks = cpu_seconds(partial(opened_text.locate, patterns), 1)
        note = f"{len(hits):,} places; by walks alone {walks:.1f} s"
        yield Row(f"{name}, located", seconds, "s", f"<= {walks / 3:.2f}", note)
        lengths = np.array([len(pattern) for pattern in patterns])
        ends = hits.place + lengths[hits.pattern]
        lines = TextLines(opened_text.cached_text())
        shown = sum(map(len, lines.around(hits.place, ends, 0)))
        seconds = cpu_seconds(lambda: list(lines.around(hits.place, ends, 0)), ROUNDS)
        yield Row(f"{name}, lines shown", seconds, "s", "", f"{shown} lines of 100 kB")


def _made(
    name: str, index: TextIndex, make: partial[TextIndex], n: int, most: float
) -> Iterator[Row]:
    packed = index.pack()
    yield Row(f"{name}: index", packed.size / n, "bytes a letter", f"<= {most}")
    yield Row(f"{name}: made", n / cpu_seconds(make, ROUNDS) / 1e6, "MB/s", ">= 10")
    seconds = cpu_seconds(partial(open_index, packed), ROUNDS)
    yield Row(f"{name}: opened and checked", n / seconds / 1e6, "MB/s")


def _windows(text: Octets, n: int, count: int, rng: np.random.Generator) -> RaggedArray:
    places = rng.integers(0, text.size - n, count)
    data = np.ascontiguousarray(text[places[:, None] + np.arange(n)]).ravel()
    return RaggedArray(data, np.arange(0, count * n + 1, n))
