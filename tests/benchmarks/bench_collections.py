"""Collections of strains of E. coli: bytes beside zstd and xz, speeds of one core, one read."""

from __future__ import annotations

import lzma
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zstandard
from strain_data import Codes, reference, strains, write

import gangsaw
from gangsaw.codecs.core.nucleotides.codes import CODES
from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.genomics.genomes.collections.collected import CollectionStream

SETS = ((4, 0.001), (4, 0.01), (16, 0.001), (16, 0.01))
SHARED = Path(os.environ.get("GANGSAW_SHARED", "../shared"))
GENOME = SHARED / "data/genomes/assemblies/ecoli_K12_MG1655.fna.gz"
MODES = ("dense", "pack")
XZ_MOST = 4  # genomes: more take minutes
ASKED = {0.001: (100, 500), 0.01: (40, 300)}  # Mbases/s in and out
READ, READS, COLD = 1000, 12, "<= 20"


class Set(NamedTuple):
    """Strains, and the folder of their files."""

    name: str
    genomes: list[Codes]
    paths: list[str]
    rate: float

    @property
    def letters(self) -> int:
        """Of all genomes."""
        return sum(codes.size for codes in self.genomes)


def rows() -> Iterator[Row]:
    """Yield all rows."""
    for n, rate in SETS:
        with tempfile.TemporaryDirectory() as folder:
            genomes = strains(_first(), n, rate)
            place = Path(folder)
            (place / "fa").mkdir()
            name = f"{n} strains, {100 * rate:.2g} %"
            say(name)
            yield from _rows(Set(name, genomes, write(place / "fa", genomes), rate), place)


@cache
def _first() -> Codes:
    return reference(GENOME)


def _rows(made: Set, place: Path) -> Iterator[Row]:
    text = b"".join(Path(path).read_bytes() for path in made.paths)
    peers = dict(_peers(text))
    least = min(peers.values())
    for mode in MODES:
        store = place / f"{mode}.zarr"
        gangsaw.compress(made.paths, str(store), codec="dna", mode=mode)
        n = sum(path.stat().st_size for path in store.rglob("c/**/*") if path.is_file())
        note = f"letters {mode}; {8 * n / made.letters:.3g} bits a letter"
        yield Row(f"{made.name}, {mode}", n, "bytes", f"<= {peers['zstd -19 --long=27']}", note)
    for name, n in peers.items():
        yield Row(f"{made.name}, {name}", n, "bytes", note=f"{least / n:.3g} of the least peer's")
    yield from _speeds(made, place)


def _peers(text: bytes) -> Iterator[tuple[str, int]]:
    """Yield what is the size of one text."""
    long = zstandard.ZstdCompressionParameters.from_level(19, window_log=27, enable_ldm=True)
    yield (
        "zstd -19 --long=27",
        len(zstandard.ZstdCompressor(compression_params=long).compress(text)),
    )
    if len(text) < XZ_MOST * 5_000_000:
        yield "xz -6, windows of 128 MiB", len(lzma.compress(text, filters=XZ))


XZ = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 27}]


def _speeds(made: Set, place: Path) -> Iterator[Row]:
    into, out = ASKED[made.rate]
    spent = min(_time_in(made.paths) for _ in range(2))
    note = "CPU time of reading files, and finding where each follows which; codecs of arrays apart"
    value = made.letters / spent / 1e6
    yield Row(f"{made.name}, in", value, "Mbases/s", f">= {into}", note)
    for mode in MODES:
        store = str(place / f"{mode}.zarr")
        spent = min(_time_out(made, store) for _ in range(2))
        target = f">= {out}" if mode == "pack" else ""
        note = f"CPU time of all letters from a store that was just opened, letters {mode}"
        value = made.letters / spent / 1e6
        yield Row(f"{made.name}, out, {mode}", value, "Mbases/s", target, note)
        reads = [_time_read(made, store, i) for i in range(READS)]
        note = f"CPU time with opening it; at most {max(reads):.3g} ms"
        what = f"{made.name}, {READ} letters of a store that was just opened, {mode}"
        yield Row(what, statistics.median(reads), "ms", COLD, note)


def _time_in(paths: list[str]) -> float:
    began = time.process_time()
    for _ in CollectionStream(tuple(paths)).pieces():
        pass
    return time.process_time() - began


def _time_out(made: Set, store: str) -> float:
    began, at = time.process_time(), 0
    genome = gangsaw.genomes.open(store)
    found = [record.letters() for record in genome]
    spent = time.process_time() - began
    for codes, letters in zip(made.genomes, found, strict=True):
        assert np.array_equal(CODES[letters], codes)
        at += letters.size
    return spent


def _time_read(made: Set, store: str, seed: int) -> float:
    """Return milliseconds."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(0, len(made.genomes)))
    at = int(rng.integers(0, made.genomes[number].size - READ))
    began = time.process_time()
    found = gangsaw.genomes.open(store).record(number).codes(at, at + READ)
    spent = 1e3 * (time.process_time() - began)
    assert np.array_equal(found, made.genomes[number][at : at + READ])
    return spent


if __name__ == "__main__":
    for row in rows():
        sys.stdout.write(f"{row}\n")
