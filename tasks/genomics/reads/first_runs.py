"""Warm-up runs of read jobs, which compile the kernels that a user's first job needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gangsaw.codecs.core.nucleotides.alphabet import BASES
from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns

N_READS = 400
LEVELS = {"binned": b"#,:F", "many": bytes(range(35, 74))}  # qualities of newer and older machines


def _runs() -> tuple[FirstRun, ...]:
    """Return warm-up runs: FASTQ with few and many qualities, FASTA and BAM, and a bin job."""
    return (
        *(_fastq(name) for name in LEVELS),
        FirstRun(
            "FASTA of reads",
            lambda folder: _write(folder / "reads.fasta", b"", seed=3),
            (
                ("compress", "reads.fasta", "reads.zarr", "--format", "fasta", "--workers", "0"),
                ("decompress", "reads.zarr", "out.fasta", "--workers", "0"),
            ),
        ),
        FirstRun(
            "BAM",
            lambda folder: _write_sam(folder / "reads.sam"),
            (
                ("compress", "reads.sam", "reads.zarr", "--workers", "0"),
                ("decompress", "reads.zarr", "out.bam", "--workers", "0"),
            ),
            needs=("pysam",),
        ),
        FirstRun(
            "reads in bins",
            lambda folder: _write(folder / "reads.fastq", LEVELS["binned"], seed=4),
            (("bin", "reads.fastq", "binned.fastq"),),
        ),
    )


def _fastq(name: str) -> FirstRun:
    return FirstRun(
        f"FASTQ of {name} qualities",
        lambda folder: _write(folder / "reads.fastq", LEVELS[name], seed=1),
        (
            ("compress", "reads.fastq", "reads.zarr", "--workers", "0"),
            ("verify", "reads.zarr", "--workers", "0"),
            ("decompress", "reads.zarr", "out.fastq", "--workers", "0"),
        ),
    )


def _write(path: Path, qualities: bytes, seed: int) -> None:
    rng = np.random.default_rng(seed)
    text = rng.choice(list(BASES), 20_000).astype(np.uint8)
    lines = []
    for number in range(N_READS):
        length = int(rng.integers(90, 151))
        start = int(rng.integers(0, text.size - length))
        bases = text[start : start + length].copy()
        bases[rng.random(length) < 0.005] = ord("N")
        name = f"RUN:1:FLOW:{number // 100}:{1000 + number}:{rng.integers(1000, 9000)}".encode()
        lines += [b"@" + name if qualities else b">" + name, bases.tobytes()]
        if qualities:
            lines += [b"+", bytes(rng.choice(list(qualities), length).tolist())]
    path.write_bytes(b"\n".join(lines) + b"\n")


def _write_sam(path: Path) -> None:
    """Write unaligned reads as SAM."""
    _write(path, LEVELS["many"], seed=2)
    lines = path.read_bytes().splitlines()
    columns = b"\t4\t*\t0\t0\t*\t*\t0\t0\t"
    rows = (
        name[1:] + columns + bases + b"\t" + qualities
        for name, bases, qualities in zip(lines[::4], lines[1::4], lines[3::4], strict=True)
    )
    path.write_bytes(b"@HD\tVN:1.6\n" + b"\n".join(rows) + b"\n")


FIRST_RUNS = FirstRuns(_runs())
