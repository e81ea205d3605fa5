"""Search of simulated reads in E. coli on one core, beside minimap2 (apt) in the same run.

Both times are CPU seconds with a CIGAR for each hit, without making or reading an index: of
minimap2 those with an empty file of queries are subtracted. Ours is the kernel alone: no files and
no text, which minimap2 does read and write.
"""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from gangsaw.tasks.bench.table import Row, cpu_seconds
from gangsaw.tasks.genomics.align.search.hits import HIT
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.search.search import SearchText, search_queries
from gangsaw.tasks.genomics.align.search.seeds.index import build_seed_index
from gangsaw.tasks.genomics.align.sets.pairs import sequences_of

SHARED = Path(os.environ.get("GANGSAW_SHARED", "../shared"))
GENOME = SHARED / "data/genomes/assemblies/ecoli_K12_MG1655.fna.gz"
READS, LETTERS, ROUNDS = 10_000, 150, 5
NEAR = 20  # letters between a hit's beginning and the true one


def rows() -> Iterator[Row]:
    """Yield the share of reads at their place, and the speed beside minimap2's."""
    text = "".join(gzip.decompress(GENOME.read_bytes()).decode().split("\n")[1:])
    reads, places, strands = _reads(text, np.random.default_rng(5))
    queries, genome = sequences_of(reads), sequences_of(text).codes
    rules = SearchParams().rules
    borders = np.array([0, genome.size])
    target = SearchText(genome, borders, build_seed_index(genome, rules.seeds))
    work = partial(search_queries, queries.codes, queries.offsets, target, rules, np.empty(0, HIT))
    ours, theirs = cpu_seconds(work, ROUNDS), _minimap2_seconds(text, reads)
    first, tied = _shares(work().rows, places, strands)
    yield Row("reads whose first hit is at the true place", 100 * first, "%", ">= 99")
    yield Row("reads with a hit there that none is better than", 100 * tied, "%")
    share = f"{theirs / ours:.2f} of minimap2 -cx sr"
    half = f">= {READS / theirs / 2:.0f}"
    yield Row("reads aligned on a core", READS / ours, "reads/s", half, share)
    yield Row("minimap2 -cx sr", READS / theirs, "reads/s")


def _reads(text: str, rng: np.random.Generator) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return reads with 1 % substitutions and 0.1 % gaps, and their places and strands."""
    places = rng.integers(0, len(text) - 2 * LETTERS, READS)
    strands, reads = rng.integers(0, 2, READS), []
    for place, strand in zip(places.tolist(), strands.tolist(), strict=True):
        out: list[str] = []
        for letter in text[place : place + LETTERS + 20]:
            draw = rng.random()
            if draw >= 0.0005:
                out.append(_other(letter, rng) if draw > 0.99 else letter)
            if 0.0005 <= draw < 0.001:
                out.append("ACGT"[rng.integers(4)])
        read = "".join(out[:LETTERS])
        reads.append(read.translate(str.maketrans("ACGT", "TGCA"))[::-1] if strand else read)
    return reads, places, strands


def _other(letter: str, rng: np.random.Generator) -> str:
    return str(rng.choice(list("ACGT".replace(letter, ""))))


def _shares(found: np.ndarray, places: np.ndarray, strands: np.ndarray) -> tuple[float, float]:
    """Return the share of reads whose first best hit is true, and of those with one so good."""
    near = np.abs(found["there"] - found["begin"] - places[found["query"]]) < NEAR
    is_true = near & (found["strand"] == strands[found["query"]])
    best = np.zeros(READS, np.int64)
    np.maximum.at(best, found["query"], found["score"])
    is_best = found["score"] == best[found["query"]]
    firsts = np.unique(found["query"][is_best], return_index=True)[1]
    tied = np.unique(found["query"][is_best & is_true]).size
    return is_true[is_best][firsts].sum() / READS, tied / READS


def _minimap2_seconds(text: str, reads: list[str]) -> float:
    """Return the least CPU seconds of minimap2 on one thread, without those for the index."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "genome.fa").write_text(f">genome\n{text}\n")
        (folder / "none.fa").touch()
        lines = (f">{i}\n{read}\n" for i, read in enumerate(reads))
        (folder / "reads.fa").write_text("".join(lines))
        subprocess.run(
            ["minimap2", "-x", "sr", "-d", "index", "genome.fa"],
            check=True,
            cwd=folder,
            capture_output=True,
        )
        whole, none = (min(_child(folder, f) for _ in range(ROUNDS)) for f in ("reads", "none"))
    return whole - none


def _child(folder: Path, queries: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["minimap2", "-t1", "-cx", "sr", "index", f"{queries}.fa"]
    subprocess.run(command, check=True, cwd=folder, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    from gangsaw.tasks.bench.table import say

    for row in rows():
        say(f"{row.what}: {row.value:.4g} {row.unit} {row.target} {row.verdict} {row.note}")
