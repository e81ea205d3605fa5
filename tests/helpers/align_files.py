"""A small genome with a repeat, reads of it, and lines of PAF taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from reference.search import path_score, reverse_complement

SCORES = (2, -3, 5, 2)


def random_text(rng: np.random.Generator, n: int) -> str:
    return "".join(rng.choice(list("ACGT"), n))


def small_genome() -> dict[str, str]:
    """Two records; 300 letters of the first are there twice, once turned round."""
    rng = np.random.default_rng(7)
    one, two = random_text(rng, 9000), random_text(rng, 2500)
    repeat = one[1000:1300]
    return {"chr1": one[:6000] + reverse_complement(repeat) + one[6300:], "chr2": two}


def mutated(rng: np.random.Generator, text: str, changes: float, gaps: float) -> str:
    """Letters of a text after substitutions, insertions and deletions."""
    out = []
    for letter in text:
        draw = rng.random()
        if draw < gaps / 2:
            continue
        if draw < gaps:
            out.append(str(rng.choice(list("ACGT"))))
        other = rng.random() < changes
        out.append(str(rng.choice(list("ACGT".replace(letter, "")))) if other else letter)
    return "".join(out)


def write_fasta(path: Path, records: dict[str, str], width: int = 70) -> Path:
    lines = []
    for name, text in records.items():
        lines += [f">{name}", *(text[i : i + width] for i in range(0, len(text), width))]
    path.write_text("\n".join(lines) + "\n")
    return path


@dataclass(frozen=True)
class PafLine:
    """A line of PAF."""

    query: str
    size: int
    begin: int
    end: int
    strand: str
    record: str
    there: int
    there_end: int
    equal: int
    columns: int
    quality: int
    tags: dict[str, str]

    @property
    def score(self) -> int:
        return int(self.tags["AS"])

    @property
    def is_primary(self) -> bool:
        return self.tags["tp"] == "P"


def lines_of(text: str) -> list[PafLine]:
    found = []
    for line in text.splitlines():
        f = line.split("\t")
        tags = {tag[:2]: tag[5:] for tag in f[12:]}
        numbers = (*map(int, f[1:4]), f[4], f[5], *map(int, f[7:12]), tags)
        found.append(PafLine(f[0], *numbers))  # type: ignore[arg-type]
    return found


def check_line(line: PafLine, query: str, genome: dict[str, str]) -> None:
    """Hold a line against the letters: score, matches, edits, and what its path spans."""
    own = query.upper()[line.begin : line.end]
    if line.strand == "-":
        own = reverse_complement(own)
    text = genome[line.record].upper()[line.there : line.there_end]
    assert line.size == len(query)
    assert path_score(own, text, line.tags["cg"], SCORES) == line.score
    steps = [(int(n), step) for n, step in re.findall(r"(\d+)([MID])", line.tags["cg"])]
    assert line.columns == sum(n for n, _ in steps)
    assert int(line.tags["NM"]) == line.columns - line.equal
