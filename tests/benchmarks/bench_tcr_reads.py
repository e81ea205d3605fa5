"""From simulated reads to receptors, on one core: speed, and how many are right."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, cpu_seconds, say
from gangsaw.tasks.tcr.annotation.job import AnnotateChoice, annotate
from gangsaw.tasks.tcr.genes.genes import open_genes
from gangsaw.tasks.tcr.simulation.job import ModelChoice, SimulateChoice, simulate
from gangsaw.tasks.tcr.simulation.references import Wanted

REFERENCES, DEPTH = 4_000, 10


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
        right, known = _junctions(found), _junctions(truth)
        note = f"{len(right & known):,} of {len(right):,} rows"
        yield Row(
            "CDR3s of the table that are true",
            100 * len(right & known) / len(right),
            "%",
            ">= 99",
            note,
        )
        note = f"of {len(known):,}, {DEPTH} pairs each in the mean, geometrically distributed"
        yield Row("true CDR3s in the table", 100 * len(right & known) / len(known), "%", "", note)
    set_thread_limit(None)


def _junctions(path: Path) -> set[str]:
    with path.open() as file:
        return {row["junction"] for row in csv.DictReader(file, delimiter="\t")}
