"""Lines of SAM and BAM by the rules of the specification, for all kinds of reads and of pairs."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from helpers.align_files import random_text, write_fasta
from helpers.sam_rules import broken_rules, sam_lines
from reference.search import reverse_complement

from gangsaw.tasks.api import functions
from gangsaw.tasks.genomics.align.job.job import AlignChoice, align_job
from gangsaw.tasks.genomics.align.search.params import SearchParams

pysam = pytest.importorskip("pysam")
RNG = np.random.default_rng(14)
REPEAT, COPY = random_text(RNG, 500), random_text(RNG, 500)
ONE = random_text(RNG, 3000) + REPEAT + random_text(RNG, 2000) + REPEAT + random_text(RNG, 2000)
TWO = random_text(RNG, 2000) + COPY + random_text(RNG, 500)
GENOME = {
    "one": ONE[:6000] + "N" * 12 + ONE[6012:] + COPY,
    "two": TWO,
    "three": random_text(RNG, 1000) + REPEAT,
}
NOWHERE = random_text(RNG, 150)
READS = {
    "unmapped": NOWHERE,
    "forward": ONE[400:550],
    "reverse": reverse_complement(ONE[600:750]),
    "gapped": ONE[5000:5060] + ONE[5065:5120] + "ACT" + ONE[5120:5170],
    "unknown": ONE[5940:6000] + "ACGTACGTACGT" + ONE[6012:6090],
    "repeat": REPEAT[100:250],
    "copy": reverse_complement(COPY[100:250]),
    "split": ONE[1000:1120] + TWO[300:390],
    "other": TWO[1000:1150],
    "clipped": NOWHERE[:40] + ONE[1500:1620] + NOWHERE[:30],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rules")
    functions.compress(
        str(write_fasta(folder / "g.fa", GENOME)), str(folder / "g.zarr"), format="genome"
    )
    write_fasta(folder / "single.fa", READS)
    pairs = list(product(READS, READS))
    lines = (f">{a}-{b}\n{READS[x]}\n" for a, b in pairs for x in (a, b))
    (folder / "pairs.fa").write_text("".join(lines))
    return folder


def aligned(folder: Path, queries: str, pairs: str, target: str, eqx: bool = False) -> Path:
    paths = str(folder / "g.zarr"), str(folder / target)
    params = SearchParams(pairs=pairs, eqx=eqx)
    align_job([str(folder / queries)], *paths, params, choice=AlignChoice(overwrite=True))
    return folder / target


def without_rates(text: str) -> list[str]:
    """Return the lines of SAM; BAM has `de` as a float, which is spelled another way."""
    lines = (str(line._replace(tags=line.tags | {"de": ""})) for line in sam_lines(text))
    return sorted(lines)


def bases(record: str, begin: int, end: int) -> str:
    return GENOME[record][begin:end]


@pytest.mark.parametrize("eqx", [False, True])
@pytest.mark.parametrize(("queries", "pairs"), [("pairs.fa", "interleaved"), ("single.fa", "no")])
def test_all_lines_keep_the_rules(folder: Path, queries: str, pairs: str, eqx: bool) -> None:
    text = aligned(folder, queries, pairs, "o.sam", eqx).read_text()
    assert broken_rules(text, bases) == []
    flags = {line.flag for line in sam_lines(text)}
    assert {bool(flag & 256) for flag in flags} == {bool(flag & 2048) for flag in flags} == {0, 1}


def test_secondary_lines_point_to_an_unmapped_mate_where_it_is(folder: Path) -> None:
    text = aligned(folder, "pairs.fa", "interleaved", "o.sam").read_text()
    for name in ("repeat-unmapped", "unmapped-repeat", "copy-unmapped"):
        own = [line for line in sam_lines(text) if line.name == name]
        (lost,) = (line for line in own if line.flag & 4)
        others = [line for line in own if not line.flag & 4]
        assert len(others) > 1
        places = {(line.mate_record, line.mate_position) for line in others}
        assert places == {(lost.record, lost.position)}


def test_bam_is_whole_and_has_the_same_lines(folder: Path) -> None:
    for queries, pairs in (("pairs.fa", "interleaved"), ("single.fa", "no")):
        path = aligned(folder, queries, pairs, "o.bam")
        pysam.quickcheck(str(path))
        with pysam.AlignmentFile(path) as file:
            text = "".join(f"{read.to_string()}\n" for read in file.fetch(until_eof=True))
        assert broken_rules(text, bases) == []
        sam = aligned(folder, queries, pairs, "o.sam").read_text()
        assert without_rates(text) == without_rates(sam)


def test_lines_that_break_rules_are_found(folder: Path) -> None:
    text = aligned(folder, "pairs.fa", "interleaved", "o.sam").read_text()
    start = text.index("forward-reverse\t")
    head, own, rest = text[:start], *text[start:].split("\n", 1)
    for column, value in ((1, "1"), (6, "two"), (7, "5"), (8, "999")):
        columns = own.split("\t")
        columns[column] = value
        assert broken_rules(head + "\t".join(columns) + "\n" + rest, bases)
    for tag, other in (("NM:i:0", "NM:i:3"), ("MC:Z:150M", "MC:Z:149M")):
        assert tag in own
        assert broken_rules(head + own.replace(tag, other) + "\n" + rest, bases)
