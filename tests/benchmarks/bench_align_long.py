"""Long reads with known positions, aligned by `gangsaw align` and minimap2 (apt) in the same run.

The time is that of the whole command on one thread, less that of the same command without reads.
"""

from __future__ import annotations

import gzip
import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from long_reads import ERRORS, NOWHERE, UNKNOWN, LongRead, Sample, simulate_reads, simulate_sample

from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.core.nucleotides.codes import LETTER_OF_CODE
from gangsaw.tasks.bench.table import Row
from gangsaw.tasks.genomics.align.sets.pairs import Codes, sequences_of

SHARED = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/genomes/assemblies"
GENOMES = {
    "human region": "human_region_1Mb.fa.gz",
    "yeast": "yeast_chrI_R64.fa.gz",
    "E. coli": "ecoli_K12_MG1655.fna.gz",
}
READS = int(os.environ.get("GANGSAW_LONG_READS", "2000"))  # of each set
ALLOWED = 0.1  # percent of the bases
NEAR = 50  # bases between an end and the true one
SURE = 10  # least MAPQ of a read that counts as placed
PRESETS = {"hifi": "map-hifi", "ont": "map-ont"}
PROGRAMS = ("gangsaw", "minimap2")
SEED = 45


@dataclass
class Figures:
    """Figures of one program on one set.

    Attributes
    ----------
    bases, placed : of the reads that the reference has, and those aligned to their position
    reads, lines : reads, and their lines that are not secondary
    ends : reads whose longest line begins and ends near the true positions
    qualities, is_misplaced : of the longest line of each read that has one
    seconds : of the processor
    """

    bases: int = 0
    placed: int = 0
    reads: int = 0
    lines: int = 0
    ends: int = 0
    qualities: list[int] = field(default_factory=list)
    is_misplaced: list[bool] = field(default_factory=list)
    seconds: float = 0.0

    def misplaced(self, n: int) -> int:
        """Return how many of the n reads with the highest MAPQ are misplaced, ties in part."""
        order = np.argsort(-np.array(self.qualities), kind="stable")[:n]
        return int(np.array(self.is_misplaced)[order].sum())

    @property
    def share(self) -> float:
        """Percent of the bases that are at their position."""
        return 100 * self.placed / self.bases

    @property
    def sure(self) -> int:
        """Reads with a MAPQ of at least SURE."""
        return sum(quality >= SURE for quality in self.qualities)


def rows() -> Iterator[Row]:
    """Yield the figures of both programs on each set."""
    set_thread_limit(1)
    for kind in ERRORS:
        for name, file in GENOMES.items():
            found = figures_of(file, kind, READS)
            yield from _set_rows(f"{name}, {kind}", found["gangsaw"], found["minimap2"])


def _set_rows(title: str, ours: Figures, theirs: Figures) -> Iterator[Row]:
    """Yield what is asked of ours, each beside minimap2's."""
    share, other = ours.share, theirs.share
    note = f"minimap2 {other:.3f}; {ours.bases:,} bases"
    yield Row(f"{title}: bases at their position", share, "%", f">= {other - ALLOWED:.3f}", note)
    lines, other = ours.lines / ours.reads, theirs.lines / theirs.reads
    yield Row(f"{title}: lines of a read", lines, "", f"<= {other:.4f}", f"minimap2 {other:.4f}")
    ends, other = (100 * one.ends / one.reads for one in (ours, theirs))
    note = f"minimap2 {other:.2f}"
    yield Row(f"{title}: both ends within {NEAR} bases", ends, "%", f">= {other:.2f}", note)
    n = min(ours.sure, theirs.sure)
    other = theirs.misplaced(n)
    note = f"minimap2 {other}; of the {n:,} reads with the highest MAPQ; MAPQ of {SURE} or more: "
    note += f"{ours.sure:,} and {theirs.sure:,} reads"
    yield Row(f"{title}: reads misplaced", ours.misplaced(n), "reads", f"<= {other}", note)
    note = f"minimap2 {theirs.seconds:.3g}"
    yield Row(f"{title}: time of the processor", ours.seconds, "s", "", note)


def figures_of(file: str, kind: str, n: int) -> dict[str, Figures]:
    """Return the figures of each program on n reads of a kind of a genome."""
    lines = gzip.decompress((SHARED / file).read_bytes()).decode().split("\n")
    text = "".join(line for line in lines if not line.startswith(">"))
    sample = simulate_sample(sequences_of(text.upper()).codes, SEED)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write(root / "genome.fa", [sample.reference])
        _write(root / "reads.fa", (read.codes for read in simulate_reads(sample, kind, n, SEED)))
        (root / "none.fa").touch()
        found = {}
        for program in PROGRAMS:
            seconds = _run(program, kind, root)
            found[program] = judged(sample, simulate_reads(sample, kind, n, SEED), root / "out.paf")
            found[program].seconds = seconds
        return found


def _write(path: Path, records: Iterable[Codes]) -> None:
    with path.open("wb") as file:
        for number, codes in enumerate(records):
            file.write(b">%d\n%s\n" % (number, LETTER_OF_CODE[codes].tobytes()))


def _run(program: str, kind: str, root: Path) -> float:
    """Write out.paf; return the seconds of the processor, less those without reads."""
    if program == "gangsaw":
        _child(root, "gangsaw", "compress", "genome.fa", "genome.zarr", "--workers", "0")
        command = ["gangsaw", "align", "READS", "genome.zarr", "out.paf", "--preset", "long"]
        command += ["--workers", "0", "--overwrite"]
    else:
        command = ["minimap2", "-t1", "-cx", PRESETS[kind], "-o", "out.paf", "genome.fa", "READS"]
    none, whole = (
        _child(root, *(name if word == "READS" else word for word in command))
        for name in ("none.fa", "reads.fa")
    )
    return whole - none


def _child(root: Path, *command: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, cwd=root, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def judged(sample: Sample, reads: Iterable[LongRead], path: Path) -> Figures:
    """Return the figures of lines of PAF, but the time."""
    lines: dict[int, list[list[str]]] = {}
    with path.open() as file:
        for line in file:
            words = line.rstrip().split("\t")
            if "tp:A:P" in words:
                lines.setdefault(int(words[0]), []).append(words)
    out = Figures()
    for number, read in enumerate(reads):
        _judge(sample, read, lines.get(number, []), out)
    return out


def _judge(sample: Sample, read: LongRead, lines: list[list[str]], out: Figures) -> None:
    is_true = read.positions != NOWHERE
    is_true[is_true] = sample.reference[read.positions[is_true]] != UNKNOWN
    is_placed = np.zeros(read.codes.size, np.bool_)
    for words in lines:
        own, there = _pairs(words, read.codes.size)
        right = (read.positions[own] == there) & ((words[4] == "-") == read.is_reverse)
        is_placed[own[right]] = True
    out.bases += int(is_true.sum())
    out.placed += int((is_placed & is_true).sum())
    out.reads += 1
    out.lines += len(lines)
    if not lines:
        return
    longest = max(lines, key=lambda words: int(words[3]) - int(words[2]))
    begin, end = int(longest[7]), int(longest[8])
    true = read.positions[read.positions != NOWHERE]
    first, last = int(true.min()), int(true.max()) + 1
    shared = min(end, last) - max(begin, first)
    is_near = max(abs(begin - first), abs(end - last)) <= NEAR
    out.ends += is_near
    out.qualities.append(int(longest[11]))
    is_other = (longest[4] == "-") != read.is_reverse
    out.is_misplaced.append(is_other or 2 * shared < last - first)


def _pairs(words: list[str], size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the pairs of bases of a line, in the read and in the reference."""
    cigar = next(word for word in words if word.startswith("cg:Z:"))[5:]
    steps = re.findall(r"(\d+)([MIDX=])", cigar)
    lengths = np.array([int(n) for n, _ in steps])
    ops = np.array([op for _, op in steps])
    takes_own, takes_there = ops != "D", ops != "I"
    own_at = np.cumsum(lengths * takes_own) - lengths * takes_own
    there_at = np.cumsum(lengths * takes_there) - lengths * takes_there
    is_pair = takes_own & takes_there
    counts = lengths[is_pair]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    own = np.repeat(own_at[is_pair], counts) + within
    there = np.repeat(there_at[is_pair], counts) + within + int(words[7])
    if words[4] == "-":
        return int(words[3]) - 1 - own, there
    return int(words[2]) + own, there


if __name__ == "__main__":
    from gangsaw.tasks.bench.table import say

    for row in rows():
        say(f"{row.what}: {row.value:.5g} {row.unit} {row.target} {row.verdict} {row.note}")
