"""gangsaw align from files to a file: true places, any cut, any number of workers, any end."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import zarr
from helpers.align_files import (
    PafLine,
    check_line,
    lines_of,
    mutated,
    random_text,
    small_genome,
    write_fasta,
)
from helpers.clusters import in_process
from helpers.command_line import CommandLine
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference.search import reverse_complement, touching

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.api import functions
from gangsaw.tasks.genomics.align.job.job import AlignChoice, AlignCuts, AlignSummary, align_job
from gangsaw.tasks.genomics.align.job.steps import MakeHits, MakeText
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.sets.scores import Scores

GENOME = small_genome()
SMALL_CUTS = AlignCuts(batch_bytes=6000, part_letters=1500, overlap=600)
ONE_CUT = AlignCuts()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("genome")
    path = write_fasta(folder / "genome.fa", GENOME)
    functions.compress(str(path), str(folder / "genome.zarr"), format="genome")
    return folder / "genome.zarr"


def reads(n: int = 120, size: int = 150) -> dict[str, str]:
    """Reads of both strands, named after record, place and strand."""
    rng = np.random.default_rng(3)
    found = {}
    for i in range(n):
        record = ("chr1", "chr2")[i % 2]
        at = int(rng.integers(0, len(GENOME[record]) - size))
        text = mutated(rng, GENOME[record][at : at + size], 0.01, 0.002)
        text = reverse_complement(text) if i % 3 else text
        found[f"r{i}_{record}_{at}_{'-' if i % 3 else '+'}"] = text
    return found


def aligned(
    queries: dict[str, str],
    store: Path,
    folder: Path,
    cuts: AlignCuts = ONE_CUT,
    params: SearchParams | None = None,
) -> list[PafLine]:
    """The hits of queries, each held against the letters."""
    path, out = write_fasta(folder / "queries.fa", queries), folder / "out.paf"
    choice = AlignChoice(overwrite=True, cuts=cuts)
    align_job([str(path)], str(store), str(out), params, choice=choice)
    found = lines_of(out.read_text())
    for line in found:
        check_line(line, queries[line.query], GENOME)
    return found


def places(lines: Sequence[PafLine]) -> list[tuple[str, str, str, int, int, int]]:
    own = [line for line in lines if line.is_primary]
    return [(x.query, x.strand, x.record, x.there, x.there_end, x.score) for x in own]


def test_reads_come_to_their_places_in_their_order(store: Path, tmp_path: Path) -> None:
    own = reads()
    found = [line for line in aligned(own, store, tmp_path) if line.is_primary]
    assert [line.query for line in found] == list(own)
    for line in found:
        _, record, at, strand = line.query.split("_")
        assert (line.record, line.strand) == (record, strand)
        assert abs(line.there - int(at)) < 20


def test_scores_without_statistics_have_no_evalues(store: Path, tmp_path: Path) -> None:
    path = write_fasta(tmp_path / "q.fa", {"q": GENOME["chr1"][500:900]})
    params = SearchParams(scores=Scores(3, -4, 6, 1))
    align_job([str(path)], str(store), str(tmp_path / "o.paf"), params)
    text = (tmp_path / "o.paf").read_text()
    line, *_ = lines_of(text)
    assert (line.there, line.there_end, line.score) == (500, 900, 1200)
    assert "ev:f:" not in text
    with pytest.raises(BadParams, match="no statistics of gapped scores 3/-4/6/1"):
        SearchParams(scores=params.scores, evalue=1.0)
    with pytest.raises(BadParams, match="no statistics of gapped scores 3/-4/6/1"):
        align_job([str(path)], str(store), str(tmp_path / "o.tsv"), params)
    assert not list(tmp_path.glob("o.tsv*"))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("m" * 255, r"query m{40}\.\.\. has a name of 255 bytes, SAM allows 254"),
        ("@at", r"query @at has a name that begins with @"),
        ("caf\xe9 x", r"query caf.* has a name with other characters than printable ASCII"),
        ("a\x7fb", r"with other characters than printable ASCII"),
    ],
)
def test_names_that_sam_does_not_take_are_refused_before_the_search(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, why: str
) -> None:
    monkeypatch.setattr(MakeHits, "__call__", None)
    good = {f"{'n' * 254} {'x' * 99} @\xe9": "ACGT", "a@b": "ACGT"}
    queries = write_fasta(tmp_path / "q.fa", {**good, name: "ACGT"})
    for target in ("o.sam", "o.bam"):
        with pytest.raises(BadParams, match=why):
            align_job([str(queries)], str(store), str(tmp_path / target))
    assert not list(tmp_path.glob("o.*"))


def test_files_without_queries_give_a_header_alone(store: Path, tmp_path: Path) -> None:
    empty, other = tmp_path / "e.fq", tmp_path / "q.fa"
    for path in (empty, other):
        path.write_bytes(b"")
    for queries, pairs in (([empty], "no"), ([other, empty], "files")):
        for target in ("o.sam", "o.paf", "o.tsv"):
            params = SearchParams(pairs=pairs)
            align_job([str(q) for q in queries], str(store), str(tmp_path / target), params)
            lines = (tmp_path / target).read_text().splitlines()
            assert [line[0] for line in lines if target == "o.sam"] == ["@"] * len(lines)
            assert target == "o.sam" or not lines
            (tmp_path / target).unlink()


@pytest.mark.parametrize("batch_bytes", [100, 1 << 22])
def test_a_genome_is_queries_too(store: Path, tmp_path: Path, batch_bytes: int) -> None:
    own = {f"c{i} x": GENOME["chr1"][300 * i : 300 * i + 250] for i in range(5)}
    path = write_fasta(tmp_path / "q.fa", own)
    functions.compress(str(path), str(tmp_path / "q.zarr"), format="genome")
    found = []
    for queries in (path, tmp_path / "q.zarr"):
        choice = AlignChoice(overwrite=True, cuts=AlignCuts(batch_bytes=batch_bytes))
        align_job([str(queries)], str(store), str(tmp_path / "o.paf"), choice=choice)
        found.append((tmp_path / "o.paf").read_bytes())
    assert found[0] == found[1]
    assert found[0].count(b"\n") >= 5


def test_rna_is_found_and_written_as_dna(store: Path, tmp_path: Path) -> None:
    text = GENOME["chr1"][500:900]
    write_fasta(
        tmp_path / "q.fa", {"rna": text.replace("T", "U"), "low": text.lower().replace("t", "u")}
    )
    align_job([str(tmp_path / "q.fa")], str(store), str(tmp_path / "o.sam"))
    lines = [x.split("\t") for x in (tmp_path / "o.sam").read_text().splitlines() if x[0] != "@"]
    for query, shown in zip(lines, (text, text.lower()), strict=True):
        assert (query[2], query[3], query[5], query[9]) == ("chr1", "501", "400M", shown)


def test_secondary_hits_are_where_the_repeat_is(store: Path, tmp_path: Path) -> None:
    within = GENOME["chr1"][1050:1200]
    found = aligned({"repeat": within, "alone": GENOME["chr1"][3000:3150]}, store, tmp_path)
    of_repeat = [line for line in found if line.query == "repeat"]
    assert [(x.is_primary, x.strand, x.there) for x in of_repeat] == [
        (True, "+", 1050),
        (False, "-", 6100),
    ]
    assert [x.quality for x in of_repeat] == [0, 0]
    assert [(x.is_primary, x.quality) for x in found if x.query == "alone"] == [(True, 60)]
    none = aligned({"repeat": within}, store, tmp_path, params=SearchParams(secondary=0))
    assert len(none) == 1


@pytest.mark.parametrize("part_letters", [1 << 25, 90_000])
def test_repeats_and_runs_of_a_letter_have_hits_of_quality_0(
    tmp_path: Path, part_letters: int
) -> None:
    """Their seeds have more places than count: some of these are tried."""
    rng = np.random.default_rng(8)
    repeat = random_text(rng, 200)
    text = "".join(repeat + random_text(rng, 100) for _ in range(700)) + "A" * 800 + "CA" * 800
    genome = {"r": text + random_text(rng, 500)}
    own = {"repeat": mutated(rng, repeat, 0.01, 0.0), "a": "A" * 150, "ca": "CA" * 60}
    own["turned"] = reverse_complement(own["repeat"])
    path = write_fasta(tmp_path / "g.fa", genome)
    functions.compress(str(path), str(tmp_path / "g.zarr"), format="genome")
    queries = write_fasta(tmp_path / "q.fa", own | {"random": random_text(rng, 150)})
    cuts = AlignCuts(part_letters=part_letters, overlap=1000)
    out = tmp_path / "o.paf"
    align_job([str(queries)], str(tmp_path / "g.zarr"), str(out), choice=AlignChoice(cuts=cuts))
    found = [line for line in lines_of(out.read_text()) if line.is_primary]
    for line in found:
        check_line(line, own[line.query], genome)
    assert [line.query for line in found] == list(own)
    assert [line.quality for line in found] == [0, 0, 0, 0]
    assert [line.score for line in found][1:3] == [300, 240]


def test_a_short_repeat_of_a_long_query_is_a_matter_of_ratio(store: Path, tmp_path: Path) -> None:
    """Its seeds are few beside those of the whole query: they are followed where they may count."""
    query = {"long": GENOME["chr1"][600:3000]}
    for ratio, starts in ((80, [600]), (10, [600, 6000])):
        found = aligned(query, store, tmp_path, params=SearchParams(ratio=ratio))
        assert [line.there // 100 * 100 for line in found] == starts


def test_parts_and_batches_change_no_hit(store: Path, tmp_path: Path) -> None:
    """Hits at borders of parts, and queries longer than several of them, become whole."""
    rng = np.random.default_rng(11)
    own = reads() | {"long": mutated(rng, GENOME["chr1"][500:8500], 0.02, 0.004)}
    own["turned"] = reverse_complement(own["long"])
    whole = places(aligned(own, store, tmp_path))
    assert places(aligned(own, store, tmp_path, SMALL_CUTS)) == whole
    ends = {query: (first, last) for query, *_, first, last, _ in whole}
    assert abs(ends["long"][0] - 500) < 5
    assert abs(ends["long"][1] - 8500) < 5
    assert ends["turned"] == ends["long"]


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**32 - 1), st.integers(60, 90), st.booleans())
def test_planted_alignments_have_the_score_of_the_whole_table(
    store: Path, tmp_path: Path, seed: int, size: int, is_turned: bool
) -> None:
    rng = np.random.default_rng(seed)
    at = int(rng.integers(0, len(GENOME["chr2"]) - size))
    text = mutated(rng, GENOME["chr2"][at : at + size], 0.03, 0.02)
    query = reverse_complement(text) if is_turned else text
    found = aligned({"q": query}, store, tmp_path)
    window = GENOME["chr2"][max(0, at - 10) : at + size + 10]
    best = touching(text, window, (-len(text), len(window)), (2, -3, 5, 2))
    if found:  # no seed may be left
        assert found[0].score >= best
        assert found[0].strand == ("-" if is_turned else "+")


def test_a_turned_query_has_the_same_hits(store: Path, tmp_path: Path) -> None:
    own = reads(60)
    turned = {name: reverse_complement(text) for name, text in own.items()}
    first, second = (aligned(each, store, tmp_path) for each in (own, turned))
    other = {"+": "-", "-": "+"}
    assert [(x.query, x.strand, x.there, x.tags) for x in first] == [
        (x.query, other[x.strand], x.there, x.tags) for x in second
    ]


def test_case_n_empty_short_and_strange_queries(store: Path, tmp_path: Path) -> None:
    text = GENOME["chr1"][2000:2150]
    own = {
        "lower": text.lower(),
        "n": text[:70] + "N" * 10 + text[80:],
        "short": text[:14],
        "allN": "N" * 100,
        "random": random_text(np.random.default_rng(99), 150),
    }
    path = tmp_path / "queries.fa"
    write_fasta(path, own)
    path.write_text(path.read_text() + ">lower\n" + text + "\n>empty\n\n>last more words\n" + text)
    out = tmp_path / "out.paf"
    done = align_job([str(path)], str(store), str(out))
    found = lines_of(out.read_text())
    assert [line.query for line in found] == ["lower", "n", "lower", "last"]
    for line in found:
        check_line(line, own.get(line.query, text), GENOME)
    assert [line.score for line in found] == [300, 2 * 140 - 30, 300, 300]
    assert (done.queries, done.aligned, done.hits) == (8, 4, 4)


def run(queries: Path, store: Path, out: Path, **more: object) -> AlignSummary:
    choice = AlignChoice(cuts=SMALL_CUTS, resume=bool(more.pop("resume", False)))
    return align_job([str(queries)], str(store), str(out), choice=choice, **more)  # type: ignore[arg-type]


def test_workers_and_resumed_runs_give_the_same_bytes(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = write_fasta(tmp_path / "queries.fa", reads())
    alone, many, broken = (tmp_path / f"{name}.paf" for name in ("alone", "many", "broken"))
    run(queries, store, alone)
    with in_process(workers=2) as client:
        run(queries, store, many, client=client)
    assert many.read_bytes() == alone.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(MakeText, "__call__", _fails)
        with pytest.raises(JobFailed, match="--resume"):
            run(queries, store, broken)
    assert not broken.exists()
    with pytest.raises(BadParams, match="--resume finishes it"):
        run(queries, store, broken)
    with monkeypatch.context() as patch:
        patch.setattr(MakeHits, "__call__", _fails)  # they are journalled
        run(queries, store, broken, resume=True)
    assert broken.read_bytes() == alone.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("alone.paf", "broken.paf", "many.paf", "queries.fa")
    ]


def test_a_resumed_run_is_the_same_job(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries, out = write_fasta(tmp_path / "queries.fa", reads(20)), tmp_path / "out.paf"
    with monkeypatch.context() as patch:
        patch.setattr(MakeText, "__call__", _fails)
        with pytest.raises(JobFailed):
            run(queries, store, out)
    with pytest.raises(BadParams, match="holds a different job"):
        run(queries, store, out, resume=True, params=SearchParams(min_score=50))


def _fails(*_: object) -> object:
    raise OSError(5, "the disk is gone")


def test_the_command_line(store: Path, tmp_path: Path, gangsaw: CommandLine) -> None:
    queries = write_fasta(tmp_path / "queries.fa", reads(30))
    packed = tmp_path / "queries.fastq.gz"
    records = (f"@{name}\n{text}\n+\n{'I' * len(text)}\n" for name, text in reads(30).items())
    packed.write_bytes(gzip.compress("".join(records).encode()))
    figures = gangsaw.ok("align", queries, store, tmp_path / "a.paf", "--json").figures
    assert (figures["queries"], figures["aligned"], figures["format"]) == (30, 30, "paf")
    printed = gangsaw.ok("align", packed, store, "-").out
    assert printed == (tmp_path / "a.paf").read_text()
    reads_store = tmp_path / "reads.zarr"
    functions.compress(str(packed), str(reads_store), codec="zstd")
    assert gangsaw.ok("align", reads_store, store, "-").out == printed
    assert "30 (100.00 %)" in gangsaw.ok("align", queries, store, tmp_path / "b.tsv").out


def test_presets_are_scores_unless_the_user_names_others(
    store: Path, tmp_path: Path, gangsaw: CommandLine
) -> None:
    queries = write_fasta(tmp_path / "q.fa", {"q": GENOME["chr1"][500:535]})
    for words, score in (
        ((), "70"),
        (("--preset", "short"), "35"),
        (("--preset", "long"), ""),  # below its least score
        (("--preset", "long", "--min-score", "40"), "70"),
        (("--preset", "short", "--match", "2"), "70"),
    ):
        found = lines_of(gangsaw.ok("align", *words, queries, store, "-").out)
        assert [line.tags["AS"] for line in found] == ([score] if score else [])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("{queries}", "{queries}", "out.paf"), "queries.fa"),
        (("{queries}", "{store}", "out.xyz"), "pass --format"),
        (("{queries}", "{store}", "out.paf", "-k", "14"), "k must be odd"),
        (("none.fa", "{store}", "out.paf"), "none.fa: no such file"),
        (("{store}/zarr.json", "{store}", "out.paf"), "neither FASTA nor FASTQ"),
        (("none.zarr", "{store}", "out.paf"), "holds no reads"),
        (("{queries}", "{store}"), "name queries"),
        (("{queries}", "{store}", "{queries}.paf"), "exists"),
    ],
)
def test_bad_input_is_one_line(
    store: Path,
    tmp_path: Path,
    gangsaw: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    queries = write_fasta(tmp_path / "queries.fa", {"q": "ACGT"})
    Path("queries.fa.paf").touch()
    zarr.create_group("none.zarr").create_array("x", shape=3, dtype="u1")
    said = gangsaw("align", *(w.format(queries=queries, store=store) for w in words)).failed(2)
    assert why in said
    assert not list(tmp_path.glob("out*"))
