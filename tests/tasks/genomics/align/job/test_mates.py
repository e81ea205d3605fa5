"""Mates as pairs: flags, places and lengths of fragments as pysam reads them, and rescued mates."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers.align_files import mutated, random_text, write_fasta
from reference.search import reverse_complement

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.api import functions
from gangsaw.tasks.genomics.align.job.job import AlignChoice, AlignCuts, align_job
from gangsaw.tasks.genomics.align.search.params import SearchParams

pysam = pytest.importorskip("pysam")
RNG = np.random.default_rng(21)
REPEAT = random_text(RNG, 400)
ONE = random_text(RNG, 5000) + REPEAT + random_text(RNG, 5000) + REPEAT + random_text(RNG, 3000)
GENOME = {"chr1": ONE, "chr2": random_text(RNG, 4000)}


def fragments(n: int = 60, size: int = 100) -> list[tuple[str, int, int, str, str]]:
    """Name, place, length and mates of fragments, some turned round."""
    rng, found = np.random.default_rng(22), []
    for i in range(n):
        length = int(rng.integers(280, 340))
        at = 4900 if i == 0 else int(rng.integers(0, 4900 - length))
        text = ONE[at : at + length]
        mates = [mutated(rng, x, 0.01, 0.0) for x in (text[:size], reverse_complement(text)[:size])]
        found.append((f"f{i}", at, length, *(mates[::-1] if i % 2 else mates)))
    return found


FRAGMENTS = fragments()
_, _, _, FIRST, SECOND = FRAGMENTS[1]
ODD = {
    "far": (ONE[200:300], reverse_complement(ONE[4000:4100])),
    "other": (ONE[200:300], GENOME["chr2"][500:600]),
    "lost": (ONE[300:400], "ACGT" * 10),
    "none": ("ACGT" * 10, "TTGACC" * 8),
    # no seed of 15 letters is left of the second mate
    "weak": (ONE[700:800], "".join(
        "ACGT"["ACGT".index(x) ^ 1] if i % 12 == 5 else x
        for i, x in enumerate(reverse_complement(ONE[900:1000]))
    )),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mates")
    functions.compress(
        str(write_fasta(folder / "g.fa", GENOME)), str(folder / "g.zarr"), format="genome"
    )
    pairs = {name: own for name, _, _, *own in FRAGMENTS} | ODD
    for i in (0, 1):
        lines = (f"@{name}/{i + 1} x\n{m[i]}\n+\n{'I' * len(m[i])}\n" for name, m in pairs.items())
        (folder / f"{i + 1}.fq").write_text("".join(lines))
    both = zip(*((folder / f"{i}.fq").read_text().split("@")[1:] for i in (1, 2)), strict=True)
    (folder / "both.fq").write_text("".join(f"@{a}@{b}" for a, b in both))
    run(folder, ["1.fq", "2.fq"], "files", "files.sam")
    return folder


def run(
    folder: Path, queries: list[str], pairs: str, out: str, cuts: AlignCuts | None = None
) -> None:
    choice = AlignChoice(cuts=cuts or AlignCuts(), overwrite=True)
    paths = [str(folder / query) for query in queries]
    align_job(
        paths, str(folder / "g.zarr"), str(folder / out), SearchParams(pairs=pairs), choice=choice
    )


def records(path: Path) -> dict[str, list[pysam.AlignedSegment]]:
    found: dict[str, list[pysam.AlignedSegment]] = {}
    with pysam.AlignmentFile(path) as file:
        for read in file:
            if not read.is_secondary and not read.is_supplementary:
                found.setdefault(read.query_name, []).append(read)
    return found


def test_mates_are_proper_pairs(folder: Path) -> None:
    found = records(folder / "files.sam")
    for i, (name, at, length, *_) in enumerate(FRAGMENTS):
        first, second = found[name]
        assert (first.is_read1, first.is_read2, second.is_read1, second.is_read2) == (1, 0, 0, 1)
        left, right = (second, first) if i % 2 else (first, second)
        assert left.is_proper_pair
        assert right.is_proper_pair
        assert (left.is_reverse, left.mate_is_reverse, right.is_reverse) == (False, True, True)
        assert abs(left.reference_start - at) < 5
        assert abs(left.template_length - length) < 10
        assert right.template_length == -left.template_length
        assert right.next_reference_start == left.reference_start
        assert left.next_reference_start == right.reference_start


def test_a_mate_in_a_repeat_is_beside_the_other_one(folder: Path) -> None:
    _, second = records(folder / "files.sam")["f0"]
    assert second.reference_start == 4900 + FRAGMENTS[0][2] - 100
    assert second.mapping_quality > 0


def test_mates_that_are_no_proper_pairs(folder: Path) -> None:
    found = records(folder / "files.sam")
    flags = {name: [read.flag for read in found[name]] for name in ODD}
    assert flags["far"] == [97, 145]
    assert flags["other"] == [65, 129]
    assert flags["lost"] == [73, 133]
    assert flags["none"] == [77, 141]
    assert found["other"][0].next_reference_name == "chr2"
    assert found["other"][0].template_length == 0
    lost, mate = found["lost"][1], found["lost"][0]
    assert (lost.reference_start, lost.next_reference_start) == (300, mate.reference_start)


def test_a_mate_without_seeds_is_found_near_the_other_one(folder: Path) -> None:
    first, second = records(folder / "files.sam")["weak"]
    assert (first.flag, second.flag) == (99, 147)
    assert (second.reference_start, second.template_length) == (900, -300)
    alone = "".join(f">w\n{ODD['weak'][1]}\n")
    (folder / "weak.fa").write_text(alone)
    run(folder, ["weak.fa"], "no", "weak.paf")
    assert not (folder / "weak.paf").read_text()


def test_interleaved_files_and_stores_of_pairs_give_the_same(folder: Path) -> None:
    reads = [str(folder / f"{i}.fq") for i in (1, 2)]
    functions.compress(reads, str(folder / "reads.zarr"), overwrite=True)
    lines = []
    for queries, pairs in (
        (["1.fq", "2.fq"], "files"),
        (["both.fq"], "interleaved"),
        (["reads.zarr"], ""),
    ):
        run(folder, queries, pairs, "o.sam")
        text = (folder / "o.sam").read_text()
        lines.append(re.sub(r"@PG.*\n", "", text))
    assert lines[0] == lines[1] == lines[2]
    assert "/1\t" not in lines[0]


def test_mates_across_parts_of_the_genome(folder: Path) -> None:
    cuts = AlignCuts(part_letters=1500, overlap=600)
    run(folder, ["1.fq", "2.fq"], "files", "cut.sam", cuts)
    one, two = (records(folder / name) for name in ("files.sam", "cut.sam"))
    for name, reads in one.items():
        assert [(x.flag, x.reference_start) for x in reads] == [
            (x.flag, x.reference_start) for x in two[name]
        ]


def test_what_are_no_mates(folder: Path) -> None:
    (folder / "x.fa").write_text(">a\nACGT\n>b\nACGT\n")
    (folder / "y.fa").write_text(">a/1\nACGT\n>a/2\nACGT\n>b\nACGT\n")
    with pytest.raises(BadParams, match="a and b have different names"):
        run(folder, ["x.fa"], "interleaved", "n.sam")
    with pytest.raises(BadParams, match="record 3 has no mate"):
        run(folder, ["y.fa"], "interleaved", "n.sam")
    with pytest.raises(BadParams, match="an even number of files"):
        run(folder, ["x.fa"], "files", "n.sam")
    assert not (folder / "n.sam").exists()
