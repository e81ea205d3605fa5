"""Warm-up runs of genome jobs, which compile the kernels that a user's first job needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.codecs.core.nucleotides.codes import reverse_complement_bases
from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns

N_BASES = 48_000
WIDTH = 60


def _runs() -> tuple[FirstRun, ...]:
    """Return warm-up runs: round trips of a collection with an added genome, a genome, a region."""
    return (
        FirstRun(
            "collection",
            write_pair,
            (
                ("compress", "one.fa", "two.fa", "pair.zarr", "--workers", "0"),
                ("append", "three.fa", "pair.zarr"),
                ("decompress", "pair.zarr", "pair", "--workers", "0"),
            ),
        ),
        FirstRun(
            "genome",
            lambda folder: write_genome(folder / "genome.fa"),
            (
                ("compress", "genome.fa", "genome.zarr", "--workers", "0"),
                ("verify", "genome.zarr", "--workers", "0"),
                ("decompress", "genome.zarr", "out.fa", "--workers", "0"),
                ("extract", "genome.zarr", "one:100-900", "-o", "part.fa"),
            ),
        ),
    )


def write_genome(path: Path) -> None:
    """Write a FASTA file of two records, with lower case and N."""
    rng = np.random.default_rng(5)
    text = rng.choice(list(BASES), N_BASES).astype(np.uint8)
    text[20_000:21_000] += ord("a") - ord("A")
    text[30_000:30_500] = ord("N")
    lines = [b">one of two"]
    lines += [text[at : at + WIDTH].tobytes() for at in range(0, 36_000, WIDTH)]
    lines += [b">two"]
    lines += [text[at : at + WIDTH].tobytes() for at in range(36_000, N_BASES, WIDTH)]
    path.write_bytes(b"\n".join(lines) + b"\n")


def write_pair(folder: Path) -> None:
    """Write FASTA files of three similar genomes, the second with a reverse-complemented part."""
    rng = np.random.default_rng(6)
    first = rng.choice(list(BASES), N_BASES).astype(np.uint8)
    second = first.copy()
    second[rng.integers(0, N_BASES, 50)] = ord("A")
    second[9000:20_000] = reverse_complement_bases(second[9000:20_000])
    second = np.delete(second, slice(30_000, 30_005))
    third = first.copy()
    third[rng.integers(0, N_BASES, 40)] = ord("C")
    two = np.insert(second, 40_000, first[:7])
    for name, letters in (("one", first), ("two", two), ("three", third)):
        (folder / f"{name}.fa").write_bytes(b">chr\n" + letters.tobytes() + b"\n")


FIRST_RUNS = FirstRuns(_runs())
