"""From simulated reads to receptors, on one core: speed, and how many are right."""

from __future__ import annotations

import csv
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, cpu_seconds, say
from gangsaw.tasks.tcr.annotation.job import AnnotateChoice, annotate
from gangsaw.tasks.tcr.germline.genes.genes import open_genes
from gangsaw.tasks.tcr.simulation.job import ModelChoice, SimulateChoice, simulate
from gangsaw.tasks.tcr.simulation.references import Wanted

REFERENCES, DEPTH = 4_000, 10
Cells = dict[str, str]  # of a row, by column


def rows() -> Iterator[Row]:
    """Yield the speed of annotation, and the share of right and of found nucleotypes."""
    set_thread_limit(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reads = tuple(str(folder / f"r_{i}.fastq.gz") for i in (1, 2))
        truth, found = folder / "t.tsv", folder / "o.tsv"
        simulate(
            truth, ModelChoice(species="human"), Wanted(REFERENCES, 1, DEPTH), SimulateChoice(reads)
        )
        genes = open_genes("olga", locus="TRB", species="human")
        again = AnnotateChoice(overwrite=True)
        done = annotate(reads, str(found), genes, again)
        say("annotate")
        seconds = cpu_seconds(lambda: annotate(reads, str(found), genes, again), 3)
        what = "pairs of 150 letters of human TRB, 1 % errors, to nucleotypes"
        note = f"{done.reads:,} pairs; gzip, counting and merging included"
        yield Row(what, done.reads / seconds, "pairs/s", "", note)
        yield from _right(found, truth)
    set_thread_limit(None)


def _right(found: Path, truth: Path) -> Iterator[Row]:
    """Yield shares of rows that are true, and of the true ones that are there."""
    rows, known = _rows(found), defaultdict[str, list[Cells]](list)
    for row in _rows(truth):
        known[row["junction"]].append(row)
    right = [row for row in rows if row["junction"] in known]
    what = "CDR3s of the table that are true"
    yield _share(what, len(right), len(rows), "rows", ">= 99")
    for call in ("v_call", "j_call"):
        fit = sum(_fits(row[call], known[row["junction"]], call, _family) for row in right)
        what = f"families of {call[0].upper()} that are true"
        yield _share(what, fit, len(rows), "rows", ">= 99")
    called = [row for row in right if row["d_call"]]
    fit = sum(_fits(row["d_call"], known[row["junction"]], "d_call", _gene) for row in called)
    what = "genes of D that are true, where one is called"
    yield _share(what, fit, len(called), f"of {len(right):,} rows with a true CDR3")
    yield from _found({row["junction"] for row in rows}, known)


def _found(rows: set[str], known: Mapping[str, list[Cells]]) -> Iterator[Row]:
    copies = {key: sum(int(x["duplicate_count"]) for x in own) for key, own in known.items()}
    there = f"true CDR3s, {DEPTH} pairs each in the mean, geometrically distributed"
    yield _share("true CDR3s in the table", len(rows & known.keys()), len(known), there)
    for pairs, name in ((1, "one pair"), (2, "two pairs"), (3, "three pairs")):
        own = {key for key, n in copies.items() if n == pairs}
        yield _share(f"those of {name}", len(rows & own), len(own), "true CDR3s")
    own = {key for key, n in copies.items() if n > 3}
    yield _share("those of more pairs", len(rows & own), len(own), "true CDR3s", ">= 99")


def _share(what: str, part: int, whole: int, of: str, asked: str = "") -> Row:
    return Row(what, 100 * part / whole, "%", asked, f"{part:,} of {whole:,} {of}")


def _fits(calls: str, own: list[Cells], name: str, of: Callable[[str], str]) -> bool:
    return not {of(one[name]) for one in own}.isdisjoint(map(of, calls.split(",")))


def _family(call: str) -> str:
    return re.split("[-*]", call)[0]


def _gene(call: str) -> str:
    return call.partition("*")[0]


def _rows(path: Path) -> list[Cells]:
    with path.open() as file:
        return [*csv.DictReader(file, delimiter="\t")]
