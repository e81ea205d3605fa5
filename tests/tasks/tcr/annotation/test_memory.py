"""Annotation of a batch keeps within the memory that it promises."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np

from gangsaw.tasks.genomics.reads.files.records import Field
from gangsaw.tasks.tcr.annotation.batch import PEAK_BYTES, AnnotateTask
from gangsaw.tasks.tcr.annotation.index import build_gene_index
from gangsaw.tasks.tcr.annotation.reading import NumberedMates, ReadBases, batches_of
from gangsaw.tasks.tcr.germline.genes.genes import open_genes
from gangsaw.tasks.tcr.simulation.job import ModelChoice, SimulateChoice, simulate
from gangsaw.tasks.tcr.simulation.reads import ReadsMade
from gangsaw.tasks.tcr.simulation.references import Wanted

PAIRS = 27_000  # of 150 letters in a batch of files


def many(letters: ReadBases) -> ReadBases:
    """Reads of a full batch: those of a small one, again and again."""
    rows = np.resize(np.arange(len(letters)), PAIRS)
    of = (Field(own.text, own.begins[rows], own.ends[rows]) for own in letters)
    return ReadBases(*of)


def test_a_batch(tmp_path: Path) -> None:
    files = tuple(str(tmp_path / f"r_{end}.fastq.gz") for end in (1, 2))
    choice = SimulateChoice(files, ReadsMade())
    simulate(tmp_path / "t.tsv", ModelChoice(species="human"), Wanted(400, 1, 3), choice)
    genes = open_genes("olga", locus="TRB", species="human")
    batch = next(iter(batches_of(files)))
    full = NumberedMates(0, tuple(map(many, batch.mates)))
    task = AnnotateTask(build_gene_index(genes), 0.1)
    task(batch)  # imports
    tracemalloc.start()
    try:
        found = task(full)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    letters = 2 * PAIRS * (2 * 150 + 4 * 8)  # of files: sequences, qualities, begins and ends
    assert found.reads == PAIRS
    assert PEAK_BYTES / 4 < peak + letters < PEAK_BYTES
