"""Long reads across tandem repeats, unknown bases and long gaps: one line from end to end."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.align_files import PafLine, lines_of, mutated, random_text, write_fasta
from reference.search import reverse_complement

from gangsaw.tasks.api import functions
from gangsaw.tasks.genomics.align.job.job import AlignChoice, align_job
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.sets.scores import Scores

LONG = SearchParams(Scores(2, -4, 4, 2), min_score=80)  # --preset long
FLANK = 15_000
NEAR = 50


def aligned(folder: Path, genome: str, queries: dict[str, str], name: str = "o.paf") -> str:
    """The lines of queries, without secondary ones."""
    write_fasta(folder / "g.fa", {"g": genome})
    write_fasta(folder / "q.fa", queries)
    functions.compress(
        str(folder / "g.fa"), str(folder / "g.zarr"), format="genome", overwrite=True
    )
    choice = AlignChoice(overwrite=True)
    align_job(
        [str(folder / "q.fa")], str(folder / "g.zarr"), str(folder / name), LONG, choice=choice
    )
    return (folder / name).read_text()


def only_lines(folder: Path, genome: str, queries: dict[str, str]) -> list[PafLine]:
    found = [line for line in lines_of(aligned(folder, genome, queries)) if line.is_primary]
    assert [line.query for line in found] == list(queries)
    return found


def is_whole(line: PafLine, genome: str) -> bool:
    """Whether a line pairs a query with the genome from end to end, and is sure of it."""
    ends = line.begin, line.size - line.end, line.there, len(genome) - line.there_end
    return max(ends) <= NEAR and line.quality == 60


@pytest.mark.parametrize(
    ("unit", "copies", "divergence"), [(30, 100, 0.0), (12, 200, 0.02), (40, 50, 0.01)]
)
def test_a_read_crosses_a_tandem_repeat_with_other_copies(
    tmp_path: Path, unit: int, copies: int, divergence: float
) -> None:
    rng = np.random.default_rng(unit)
    one, before, after = random_text(rng, unit), random_text(rng, FLANK), random_text(rng, FLANK)
    repeat = "".join(mutated(rng, one, divergence, 0.0) for _ in range(copies))
    genome = before + repeat + after
    fewer, more = repeat[: unit * copies * 4 // 5], repeat + repeat[: unit * 10]
    samples = {"same": genome, "fewer": before + fewer + after, "more": before + more + after}
    queries = {name: mutated(rng, text, 0.02, 0.02) for name, text in samples.items()}
    queries["same"] = reverse_complement(queries["same"])
    for line in only_lines(tmp_path, genome, queries):
        assert is_whole(line, genome)


def test_a_read_crosses_unknown_bases(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    sample = random_text(rng, 2 * FLANK)
    genome = sample
    for at, size in ((5000, 30), (9000, 400), (15_000, 3000)):
        genome = genome[:at] + "N" * size + genome[at + size :]
    queries = {"exact": sample, "errors": mutated(rng, sample, 0.02, 0.02)}
    exact, errors = only_lines(tmp_path, genome, queries)
    assert is_whole(exact, genome)
    assert is_whole(errors, genome)
    # a base that faces N is no match, costs nothing, and counts in NM
    assert (exact.equal, exact.score, exact.tags["NM"]) == (26_570, 2 * 26_570, "3430")
    assert exact.tags["cg"] == "30000M"
    sam = aligned(tmp_path, genome, queries, "o.sam")
    (md,) = re.findall(r"^exact\t.*MD:Z:(\S+)", sam, re.MULTILINE)
    assert len(re.findall("N", md)) == 3430
    assert sum(map(int, re.findall(r"\d+", md))) == 26_570


@pytest.mark.parametrize("size", [300, 5000])
def test_a_read_crosses_a_long_gap(tmp_path: Path, size: int) -> None:
    rng = np.random.default_rng(size)
    before, new, after = (random_text(rng, n) for n in (FLANK, size, FLANK))
    texts = {"without": before + after, "with": before + new + after}
    for sample, reference in (("with", "without"), ("without", "with")):
        queries = {
            "exact": texts[sample],
            "errors": reverse_complement(mutated(rng, texts[sample], 0.02, 0.02)),
        }
        exact, errors = only_lines(tmp_path, texts[reference], queries)
        assert is_whole(exact, texts[reference])
        assert is_whole(errors, texts[reference])
        gaps = re.findall(r"(\d+)[ID]", exact.tags["cg"])
        assert gaps == [str(size)]  # in one piece


def test_parts_of_a_read_beside_foreign_bases_do_not_overlap(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    before, own, other, after = (random_text(rng, n) for n in (FLANK, 3000, 3000, FLANK))
    text = aligned(tmp_path, before + own + after, {"q": before + other + after})
    first, second = sorted(lines_of(text), key=lambda line: line.begin)
    assert first.begin == first.there == 0
    assert first.end <= second.begin
    assert first.there_end <= second.there
    assert second.end == second.size


def test_a_read_within_a_tandem_repeat_is_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    repeat = random_text(rng, 24) * 1000
    genome = random_text(rng, 5000) + repeat + random_text(rng, 5000)
    for line in lines_of(aligned(tmp_path, genome, {"q": repeat[: 24 * 500]})):
        assert line.end - line.begin > 24 * 500 - NEAR
        assert 5000 - NEAR <= line.there <= line.there_end <= 29_000 + NEAR


def test_an_inversion_is_a_line_of_its_own(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    before, own, after = (random_text(rng, n) for n in (FLANK, 4000, FLANK))
    query = before + reverse_complement(own) + after
    lines = lines_of(aligned(tmp_path, before + own + after, {"q": query}))
    found = sorted((line.begin, line.end, line.strand) for line in lines if line.is_primary)
    places = [(0, FLANK, "+"), (FLANK, FLANK + 4000, "-"), (FLANK + 4000, len(query), "+")]
    assert [strand for *_, strand in found] == ["+", "-", "+"]
    assert np.abs(np.array([x[:2] for x in found]) - np.array([x[:2] for x in places])).max() < 10


def test_queries_without_a_hit_are_tried_again_in_their_order(tmp_path: Path) -> None:
    """A repeat with more than 512 places has anchors only in the second round."""
    rng = np.random.default_rng(17)
    repeat = random_text(rng, 200)
    genome = "".join(mutated(rng, repeat, 0.01, 0.0) for _ in range(700)) + random_text(rng, 3000)
    queries = {f"q{i}": genome[-1000 - i :][:150] if i % 2 else repeat for i in range(6)}
    found = [line for line in lines_of(aligned(tmp_path, genome, queries)) if line.is_primary]
    assert [line.query for line in found] == list(queries)
    assert [line.quality > 0 for line in found] == [i % 2 == 1 for i in range(6)]
