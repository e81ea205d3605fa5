"""From reads to a table of nucleotypes: one pass over the reads, batch by batch.

Batches are annotated on workers, or in threads of this process, and what they say is added up: the
table has the same bytes for any number of workers. Reads are never held; nucleotypes are.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.rehearsal import JobPlan
from gangsaw.tasks.engine.tally import job_of
from gangsaw.tasks.engine.window import Options, run
from gangsaw.tasks.formats.atomic import check_target, published_if, whole_files
from gangsaw.tasks.store.stamps import Stamps, Watch, file_stamps
from gangsaw.tasks.tcr.annotation import alleles
from gangsaw.tasks.tcr.annotation.batch import AnnotateTask, BatchFound
from gangsaw.tasks.tcr.annotation.index import GeneIndex, Ints, index_of
from gangsaw.tasks.tcr.annotation.nucleotypes import AnnotationTally, MergeRule, Nucleotype, merged
from gangsaw.tasks.tcr.annotation.reading import Mates, batches_of
from gangsaw.tasks.tcr.annotation.rows import MORE, reasons, rows_of
from gangsaw.tasks.tcr.genes.genes import WholeGenes
from gangsaw.tasks.tcr.repertoire import airr_rows

if TYPE_CHECKING:
    from distributed import Client

ALLELES = ".alleles.tsv"  # behind the target's name, beside it


@dataclass(frozen=True)
class AnnotateChoice:
    """How reads are annotated.

    Attributes
    ----------
    rule : which nucleotypes are errors of others
    tolerated : share of the letters of V and J outside the CDR3 that may differ
    keep_unproductive : keep nucleotypes out of frame or with a stop codon
    interleaved : mates follow each other in the only file
    overwrite : replace an existing table
    """

    rule: MergeRule = field(default_factory=MergeRule)
    tolerated: float = 0.1
    keep_unproductive: bool = False
    interleaved: bool = False
    overwrite: bool = False

    def __post_init__(self) -> None:
        """Refuse a share out of range."""
        if not 0 <= self.tolerated < 0.5:
            raise BadParams(f"tolerated must be in 0..0.5, got {self.tolerated}")


@dataclass(frozen=True)
class AnnotateSummary:
    """What was found.

    Attributes
    ----------
    target, alleles : tables of nucleotypes, and of candidates of new alleles
    reads : that were read, pairs as one
    annotated : reads in the table
    merged : of these, reads with errors in the CDR3 that were taken for another nucleotype's
    nucleotypes : rows
    candidates : of new alleles
    culled : reads by reason
    notes : on genes
    seconds : that it took
    """

    target: str
    alleles: str
    reads: int
    annotated: int
    merged: int
    nucleotypes: int
    candidates: int
    culled: dict[str, int]
    notes: tuple[str, ...]
    seconds: float


@job_of("annotate", "target")
def annotate(
    reads: Sequence[str],
    target: str,
    genes: WholeGenes,
    choice: AnnotateChoice | None = None,
    *,
    client: Client | None = None,
    options: Options | None = None,
    on_progress: OnProgress | None = None,
) -> AnnotateSummary:
    """Find V, J and CDR3 of reads, and write their nucleotypes as an AIRR table.

    Candidates of new alleles are in OUT.alleles.tsv beside it.

    Parameters
    ----------
    reads : a FASTQ, two of mates, packed or not, or a store of reads
    target : table to write
    genes : whole V and J
    choice : how reads are annotated
    client : Dask client; None works in threads of this process
    options : how it is run on Dask
    on_progress : called after each batch; how many there will be is not known

    Raises
    ------
    BadParams : a path holds no reads, genes end at the CDR3, or a table may not be replaced
    JobFailed : the job stopped, or reads changed while they were read
    """
    choice, index, began = choice or AnnotateChoice(), index_of(genes), time.monotonic()
    targets = [Path(target), Path(f"{target}{ALLELES}")]
    for path in targets:
        check_target(path, overwrite=choice.overwrite)
    watch = Watch.of(_Files(reads))
    rehearsal.stop(lambda: JobPlan(", ".join(reads), tuple(map(str, targets)), format="AIRR"))
    whole = _AllBatches.of(index)
    task = AnnotateTask(index, choice.tolerated)
    meter = Meter(0, on_progress)

    def take(_: Mates, found: BatchFound) -> None:
        whole.add(found)
        meter.add(found.reads, 0, 0)

    run(task, _batches(reads, choice), take, client=client, options=options)
    nucleotypes, culled = _kept(whole.tally, choice)
    odd = alleles.candidates(index, whole.letters, whole.bits)
    with (
        published_if(watch.check),
        whole_files(targets, overwrite=choice.overwrite) as (table, own),
    ):
        header = airr_rows.header(MORE)
        table.write_bytes(header + rows_of(nucleotypes, index, genes.locus))
        own.write_text(alleles.HEADER + "".join(one.line() for one in odd), encoding="ascii")
    return AnnotateSummary(
        target,
        str(targets[1]),
        whole.tally.reads,
        sum(one.reads for one in nucleotypes),
        sum(one.merged for one in nucleotypes),
        len(nucleotypes),
        len(odd),
        dict(culled),
        genes.notes,
        time.monotonic() - began,
    )


def _batches(reads: Sequence[str], choice: AnnotateChoice) -> Iterator[Mates]:
    return batches_of(reads, interleaved=choice.interleaved)


@dataclass
class _AllBatches:
    """What all batches say."""

    tally: AnnotationTally
    letters: Ints
    bits: NDArray[np.uint64]

    @classmethod
    def of(cls, index: GeneIndex) -> _AllBatches:
        n = index.genes[0].size
        return cls(AnnotationTally(), np.zeros((n, 4), np.int64), np.zeros((n, 4), np.uint64))

    def add(self, found: BatchFound) -> None:
        self.tally.add(found.reads, found.culled, found.keys)
        self.letters += found.letters
        self.bits |= found.bits


def _kept(tally: AnnotationTally, choice: AnnotateChoice) -> tuple[list[Nucleotype], Counter[str]]:
    """Return nucleotypes that are kept, and reads that are culled, by reason."""
    found, culled = merged(tally.keys, choice.rule), Counter(tally.culled)
    kept = []
    why = reasons(found, choice.rule, keep_unproductive=choice.keep_unproductive)
    for one, reason in zip(found, why, strict=True):
        if reason:
            culled[reason] += one.reads
        else:
            kept.append(one)
    return kept, culled


@dataclass(frozen=True)
class _Files:
    """What is read, for `Watch`."""

    paths: Sequence[str]

    def stamps(self) -> Stamps:
        """Return the stamps of files and folders of this machine."""
        return file_stamps(*(path for path in self.paths if "://" not in path))
