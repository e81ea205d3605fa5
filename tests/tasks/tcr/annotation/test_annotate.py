"""Simulated reads get the genes and junctions that they were made of."""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import xarray as xr
from helpers.command_line import CommandLine

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.genomics.reads.files.input import ReadInput
from gangsaw.tasks.genomics.reads.files.records import Mates as Records
from gangsaw.tasks.genomics.reads.files.records import ReadFile
from gangsaw.tasks.tcr.annotation import reading
from gangsaw.tasks.tcr.annotation.batch import AnnotateTask, BatchFound
from gangsaw.tasks.tcr.annotation.d_genes import DRuns
from gangsaw.tasks.tcr.annotation.index import build_gene_index
from gangsaw.tasks.tcr.annotation.job import AnnotateChoice, AnnotateSummary, annotate
from gangsaw.tasks.tcr.annotation.nucleotypes import MergeRule
from gangsaw.tasks.tcr.annotation.reading import NumberedMates
from gangsaw.tasks.tcr.annotation.spool import Spool
from gangsaw.tasks.tcr.germline.genes.genes import WholeGenes, open_genes
from gangsaw.tasks.tcr.simulation.job import ModelChoice, SimulateChoice, simulate
from gangsaw.tasks.tcr.simulation.reads import ReadsMade
from gangsaw.tasks.tcr.simulation.references import Wanted

USAGE = 2
Row = dict[str, str]
HUMAN = ("--species", "human", "--chain", "TRB")


def rows(path: Path) -> list[Row]:
    with path.open() as file:
        return [*csv.DictReader(file, delimiter="\t")]


@dataclass(frozen=True)
class Made:
    """Reads of references that are known."""

    truth: Path
    reads: tuple[str, ...]

    @property
    def junctions(self) -> dict[str, list[Row]]:
        """Rows of the truth by their junctions."""
        found: dict[str, list[Row]] = {}
        for row in rows(self.truth):
            found.setdefault(row["junction"], []).append(row)
        return found


def made(
    folder: Path, n: int, depth: float, model: ModelChoice, reads: ReadsMade | None = None
) -> Made:
    names = tuple(str(folder / f"s_{i}.fastq.gz") for i in (1, 2))
    choice = SimulateChoice(names, reads or ReadsMade())
    simulate(folder / "t.tsv", model, Wanted(n, 4, depth), choice)
    return Made(folder / "t.tsv", names)


@pytest.fixture(scope="module")
def beta(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Pairs of reads of human TRB, at 1 % errors."""
    folder = tmp_path_factory.mktemp("beta")
    return made(folder, 400, 6, ModelChoice(species="human"))


@pytest.fixture(scope="module")
def genes() -> WholeGenes:
    return open_genes("olga", locus="TRB", species="human")


def annotated(
    reads: tuple[str, ...], target: Path, genes: WholeGenes, **choices: object
) -> AnnotateSummary:
    return annotate(reads, str(target), genes, AnnotateChoice(**choices))  # type: ignore[arg-type]


def families(calls: str) -> set[str]:
    return {re.split(r"[-*]", call)[0] for call in calls.split(",")}


def assert_right(found: list[Row], truth: dict[str, list[Row]]) -> None:
    """At least 99 % of rows have a junction that is true, and V and J families of it."""
    right: Counter[str] = Counter()
    for row in found:
        own = truth.get(row["junction"], [])
        right["junction"] += bool(own)
        for call in ("v_call", "j_call"):
            right[call] += any(families(row[call]) & families(one[call]) for one in own)
    assert all(right[name] >= 0.99 * len(found) for name in ("junction", "v_call", "j_call"))


def test_junctions_and_families_are_right(beta: Made, genes: WholeGenes, tmp_path: Path) -> None:
    done = annotated(beta.reads, tmp_path / "o.tsv", genes)
    found, truth = rows(tmp_path / "o.tsv"), beta.junctions
    assert_right(found, truth)
    assert len(found) == done.nucleotypes
    seen = {junction for junction, own in truth.items() if _copies(own) > 1}
    assert len(seen & {row["junction"] for row in found}) > 0.95 * len(seen)
    assert sum(int(row["duplicate_count"]) for row in found) == done.annotated
    assert done.annotated + sum(done.culled.values()) == done.reads
    assert done.annotated > 0.8 * done.reads
    assert done.candidates == 0
    calls = [(row["v_call"].split(","), truth.get(row["junction"], [])) for row in found]
    exact = sum(any(one["v_call"] in call for one in own) for call, own in calls)
    assert exact >= 0.98 * len(found)


def _copies(own: list[Row]) -> int:
    return sum(int(row["duplicate_count"]) for row in own)


def test_d_genes_and_sequences(beta: Made, genes: WholeGenes, tmp_path: Path) -> None:
    """A D is blank only where none has five letters in the middle; TRBD2 goes with J2 alone."""
    annotated(beta.reads, tmp_path / "o.tsv", genes)
    found, truth = rows(tmp_path / "o.tsv"), beta.junctions
    right = 0
    for row in found:
        assert row["junction"] in row["sequence"]
        calls = {call.split("*")[0] for call in row["d_call"].split(",")}
        assert not ("TRBD2" in calls and row["j_call"].startswith("TRBJ1"))
        own = truth.get(row["junction"], [])
        right += any(one["d_call"].split("*")[0] in calls for one in own)
    called = sum(bool(row["d_call"]) for row in found)
    assert called > 0.6 * len(found)
    assert right > 0.85 * called


def test_longest_runs_are_the_d(genes: WholeGenes) -> None:
    index = build_gene_index(genes)
    own = DRuns.of(genes, index)
    first, second = (index.names.index(f"TRBJ{n}-1*01") for n in (1, 2))
    codes = bytes.maketrans(b"ACGT", bytes(range(4)))
    call = lambda text, j: own.call(text.encode().translate(codes), [j])  # noqa: E731
    assert call("TTGGGACAGGGGGCTT", second) == "TRBD1*01"
    assert call("AAGGGACTAGCGGGAGG", second) == "TRBD2*02"
    assert call("AAGGGACTAGCTT", second) == "TRBD2*01,TRBD2*02"
    assert call("AAGGGACTAGCTT", first) == "TRBD1*01"
    assert call("ATATATATAT", second) == call("GGGA", second) == ""


def test_reads_without_errors_are_all_found(genes: WholeGenes, tmp_path: Path) -> None:
    one = made(tmp_path, 300, 2, ModelChoice(species="human"), ReadsMade(errors=0))
    done = annotated(one.reads, tmp_path / "o.tsv", genes, rule=MergeRule(max_errors=0))
    counts: Counter[str] = Counter()
    for row in rows(one.truth):
        counts[row["junction"]] += int(row["duplicate_count"])
    found = rows(tmp_path / "o.tsv")
    assert Counter({r["junction"]: int(r["duplicate_count"]) for r in found}) == counts
    assert (done.annotated, done.culled) == (done.reads, {})


def test_single_reads_are_annotated(genes: WholeGenes, tmp_path: Path) -> None:
    reads = ReadsMade(length=250, errors=0.002)
    one = made(tmp_path, 200, 3, ModelChoice(species="human"), reads)
    done = annotated(one.reads[:1], tmp_path / "o.tsv", genes)
    assert_right(rows(tmp_path / "o.tsv"), one.junctions)
    assert done.annotated > 0.8 * done.reads


def test_chains_without_d(tmp_path: Path) -> None:
    one = made(tmp_path, 200, 6, ModelChoice(locus="TRA", species="human"))
    alpha = open_genes("olga", locus="TRA", species="human")
    done = annotated(one.reads, tmp_path / "o.tsv", alpha)
    assert_right(rows(tmp_path / "o.tsv"), one.junctions)
    assert done.annotated > 0.8 * done.reads


def test_a_new_allele_is_a_candidate(beta: Made, genes: WholeGenes, tmp_path: Path) -> None:
    """The germline lacks the letter that all reads of TRBV's most frequent gene have."""
    counts = Counter(row["v_call"] for row in rows(beta.truth))
    name = counts.most_common(1)[0][0]
    base = name.partition("*")[0] + "*"
    own = next(gene for gene in genes.v if gene.name == name)
    at = len(own.frame) - 30
    letter = "A" if own.frame[at] != "A" else "C"
    frame = f"{own.frame[:at]}{letter}{own.frame[at + 1 :]}"
    others = tuple(gene for gene in genes.v if not gene.name.startswith(base))
    changed = genes._replace(v=(own._replace(frame=frame), *others))
    annotated(beta.reads, tmp_path / "o.tsv", changed)
    found = [row for row in rows(tmp_path / "o.tsv.alleles.tsv") if row["allele"] == name]
    (row,) = [row for row in found if row["place"] == str(at + 1)]
    assert (row["germline"], row["read"]) == (letter, own.frame[at])
    assert int(row["reads"]) > 0.9 * int(row["of_reads"]) > 10
    assert int(row["junctions_at_least"]) >= 5


def fastq(folder: Path, reads: dict[str, str]) -> tuple[str, ...]:
    text = "".join(f"@{name}\n{read}\n+\n{'I' * len(read)}\n" for name, read in reads.items())
    (folder / "r.fastq").write_text(text)
    return (str(folder / "r.fastq"),)


def test_culls_are_counted_by_name(genes: WholeGenes, tmp_path: Path) -> None:
    v = next(gene for gene in genes.v if gene.name == "TRBV19*01")
    j = next(gene for gene in genes.j if gene.name == "TRBJ1-1*01")
    head, tail = v.frame[-120:] + v.codon, j.codon + j.frame
    noise = "".join("ACGT"[i * i % 7 % 4] for i in range(150))
    bad = "".join("ACGT"["ACGT".index(x) ^ (i < 99 and i % 3 == 0)] for i, x in enumerate(head))
    reads = {
        "fine": head + "GCCAGCAGTATAGAAGCTTTC" + tail,
        "out of frame": head + "GCCAGCAGTATAGAAGCTTTCC" + tail,
        "stop codon": head + "GCCAGCTAGATAGAAGCTTTC" + tail,
        "CDR3 with letters that are no base": head + "GCCAGCAGTNTAGAAGCTTTC" + tail,
        "no J": head + "GCCAGC" + noise,
        "no V": noise + "GAAGCTTTC" + tail,
        "J before V": tail + v.frame + v.codon,
        "many errors outside the CDR3": bad + "GCCAGCAGTATAGAAGCTTTC" + tail,
        "too long": noise * 40,
    }
    done = annotated(fastq(tmp_path, reads), tmp_path / "o.tsv", genes)
    assert done.culled == dict.fromkeys([*reads][1:], 1)
    (row,) = rows(tmp_path / "o.tsv")
    assert (row["v_call"], row["j_call"], row["duplicate_count"]) == (v.name, j.name, "1")
    assert row["junction_aa"] == "CASSIEAFF"
    both = annotated(fastq(tmp_path, reads), tmp_path / "all.tsv", genes, keep_unproductive=True)
    assert {r["productive"] for r in rows(tmp_path / "all.tsv")} == {"T", "F"}
    assert both.nucleotypes == 3


@pytest.mark.parametrize("change", ["", "A", "GA"])
def test_letters_lost_or_added_are_aligned(change: str, genes: WholeGenes, tmp_path: Path) -> None:
    """In V, in its middle and near the CDR3, and in J: each of these shifts what is behind it."""
    v = next(gene for gene in genes.v if gene.name == "TRBV19*01")
    j = next(gene for gene in genes.j if gene.name == "TRBJ1-1*01")
    head, tail = v.frame[-160:] + v.codon, j.codon + j.frame
    whole = head + "GCCAGCAGTATAGAAGCTTTC" + tail
    places = (60, 80, 100, 120, len(whole) - 14)
    reads = {str(at): whole[:at] + change + whole[at + 1 :] for at in places}
    done = annotated(fastq(tmp_path, {"whole": whole, **reads}), tmp_path / "o.tsv", genes)
    assert done.culled == {}
    (row,) = rows(tmp_path / "o.tsv")
    assert (row["v_call"], row["j_call"], row["duplicate_count"]) == (v.name, j.name, "6")


def test_a_run_without_receptors_leaves_nothing(genes: WholeGenes, tmp_path: Path) -> None:
    one = made(tmp_path, 20, 1, ModelChoice(species="human"), ReadsMade(length=60, insert=200))
    before = {path.name for path in tmp_path.iterdir()}
    said = r"of \d+ reads none has an accepted receptor: \d+ mates do not overlap; are"
    for resume in (False, True):
        with pytest.raises(BadParams, match=said):
            annotated(one.reads, tmp_path / "o.tsv", genes, resume=resume)
        assert {path.name for path in tmp_path.iterdir()} == before


class Killed(BaseException):
    """Ends a run as a signal would: nothing catches it."""


def test_a_killed_run_goes_on(
    beta: Made, genes: WholeGenes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No batch is annotated twice, and the table has the same bytes."""
    monkeypatch.setattr(reading, "ReadInput", _InBatches)
    annotated(beta.reads, tmp_path / "whole.tsv", genes)
    put, annotate_batch = Spool.put, AnnotateTask.__call__
    kept, tried = list[int](), list[int]()

    def put_some(spool: Spool, number: int, found: BatchFound) -> None:
        if len(kept) == 3:
            raise Killed
        put(spool, number, found)
        kept.append(number)

    def counted(task: AnnotateTask, batch: NumberedMates) -> BatchFound:
        tried.append(batch.number)
        return annotate_batch(task, batch)

    monkeypatch.setattr(Spool, "put", put_some)
    with pytest.raises(Killed):
        annotated(beta.reads, tmp_path / "o.tsv", genes)
    monkeypatch.setattr(Spool, "put", put)
    monkeypatch.setattr(AnnotateTask, "__call__", counted)
    with pytest.raises(BadParams, match="--resume finishes it"):
        annotated(beta.reads, tmp_path / "o.tsv", genes)
    with pytest.raises(BadParams, match="a different job"):
        annotated(beta.reads, tmp_path / "o.tsv", genes, resume=True, tolerated=0.2)
    Spool(tmp_path / "o.tsv.part", "").chosen({"max_errors": 1})
    done = annotated(beta.reads, tmp_path / "o.tsv", genes, resume=True)
    assert done.notes[-1] == "max_errors is 2 for all reads; the run that is resumed had 1"
    assert len(kept) == 3
    assert tried
    assert not {*kept} & {*tried}
    for behind in ("", ".alleles.tsv"):
        own, whole = (tmp_path / f"{name}.tsv{behind}" for name in ("o", "whole"))
        assert own.read_bytes() == whole.read_bytes()
    assert not (tmp_path / "o.tsv.part").exists()


class _InBatches(ReadInput):
    """Reads in batches of some pairs."""

    def groups(self, files: list[ReadFile]) -> Iterator[Records]:
        for mates in super().groups(files):
            for at in range(0, len(mates[0]), 300):
                yield tuple(own.some(slice(at, at + 300)) for own in mates)


def test_dry_runs(gangsaw: CommandLine, beta: Made, tmp_path: Path) -> None:
    ran = gangsaw.ok(
        "tcr", "annotate", *beta.reads, tmp_path / "o.tsv", *HUMAN, "--dry-run", "--json"
    )
    targets = [str(tmp_path / name) for name in ("o.tsv", "o.tsv.alleles.tsv")]
    assert (ran.figures["dry_run"], ran.figures["targets"]) == (True, targets)
    assert not [*tmp_path.iterdir()]


@pytest.mark.full
def test_stores_and_workers_give_the_same_table(
    gangsaw: CommandLine, beta: Made, tmp_path: Path
) -> None:
    tables = [tmp_path / f"{name}.tsv" for name in ("files", "workers", "store", "interleaved")]
    gangsaw.ok("compress", *beta.reads, tmp_path / "r.zarr", "--workers", 0)
    first, second = (gzip.decompress(Path(p).read_bytes()).split(b"\n") for p in beta.reads)
    with (tmp_path / "i.fastq").open("wb") as file:
        for at in range(0, len(first) - 1, 4):
            file.write(b"\n".join([*first[at : at + 4], *second[at : at + 4], b""]))
    sources = (
        (*beta.reads, "--workers", 0),
        (*beta.reads, "--workers", 2),
        (tmp_path / "r.zarr",),
        (tmp_path / "i.fastq", "--interleaved"),
    )
    figures = [
        gangsaw.ok("tcr", "annotate", *source, table, *HUMAN, "--json").figures
        for source, table in zip(sources, tables, strict=True)
    ]
    assert len({table.read_bytes() for table in tables}) == 1
    assert len({f["reads"] for f in figures}) == 1
    counted = gangsaw.ok(
        *("tcr", "count", tables[0], tmp_path / "p.zarr", "--species", "human"),
        *("--workers", 0, "--ambiguous", "first", "--json"),
    )
    assert counted.figures["kept"] == figures[0]["nucleotypes"], counted.figures["dropped"]
    copies = xr.open_zarr(tmp_path / "p.zarr", chunks=None)["copies"].values
    assert copies.sum() == figures[0]["annotated"]


def test_the_table_of_figures(gangsaw: CommandLine, beta: Made, tmp_path: Path) -> None:
    ran = gangsaw.ok("tcr", "annotate", *beta.reads, tmp_path / "o.tsv", *HUMAN)
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert any(line.startswith("doubtful letter in the CDR3 ") for line in lines)
    assert any(line.startswith("nucleotypes ") for line in lines)


@pytest.mark.parametrize(
    ("paths", "options", "said"),
    [
        (("o.tsv",), HUMAN, "name reads and then the table"),
        (("gone.fastq", "o.tsv"), HUMAN, "no such file"),
        (("g.tsv", "o.tsv"), HUMAN, "g.tsv"),
        (("empty.fastq", "o.tsv"), HUMAN, "empty.fastq: there are no reads"),
        (("a.fasta", "o.tsv"), HUMAN, "a.fasta: it is FASTA: CDR3s need the qualities"),
        (("g.tsv", "g.tsv", "o.tsv"), HUMAN, "g.tsv is named twice"),
        (("a.fasta", "g.tsv", "o.tsv"), (*HUMAN, "--interleaved"), "or interleaved in one"),
        (("cut.fastq.gz", "o.tsv"), HUMAN, "cut off"),
        (("good.fastq", "good.fastq"), (*HUMAN, "--overwrite"), "good.fastq is to be read"),
        (("good.fastq", "empty.fastq", "o.tsv"), HUMAN, "no reads"),
        (("good.fastq", "o.tsv"), HUMAN, "of 1 reads none has an accepted receptor: 1 no V"),
        (("good.fastq", "folder"), HUMAN, "folder is a directory"),
        (("a.fastq", "b.fastq", "c.fastq", "o.tsv"), HUMAN, "one file, or two of mates"),
        (("g.tsv", "o.tsv"), ("--germline", "g.tsv"), "reads need whole genes"),
        (("good.fastq", "g.tsv"), HUMAN, "exists"),
        (("g.tsv", "o.tsv"), (*HUMAN, "--tolerated", "0.5"), "tolerated must be"),
    ],
)
def test_what_cannot_be_annotated(
    gangsaw: CommandLine,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    paths: tuple[str, ...],
    options: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = [("TRBV1*01", "GCCAGCAGC"), ("TRBD1*01", "GGGACAGG"), ("TRBJ1-1*01", "CAAACACAG")]
    lines = ["gene\tpart", *("\t".join(part) for part in parts)]
    Path("g.tsv").write_text("\n".join(lines) + "\n")
    Path("empty.fastq").touch()
    Path("folder").mkdir()
    Path("a.fasta").write_text(">a\nACGT\n")
    Path("good.fastq").write_text(f"@a\n{'ACGT' * 20}\n+\n{'I' * 80}\n")
    Path("cut.fastq.gz").write_bytes(gzip.compress(Path("good.fastq").read_bytes() * 9)[:40])
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}
    assert said in gangsaw("tcr", "annotate", *paths, *options).failed(USAGE)
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()} == before


def test_wrong_choices() -> None:
    with pytest.raises(BadParams, match="tolerated"):
        AnnotateChoice(tolerated=0.7)
