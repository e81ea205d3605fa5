"""Annotation job: from reads to a table of nucleotypes, in one pass over batches of reads.

Workers or threads of this process annotate the batches. Their results are stored next to the
target until the table is complete. The table has the same bytes for any number of workers and
of interrupted runs. Memory holds a batch, later all junctions of one length, and the rows of the
table.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_as_job
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import Options, run_batches
from gangsaw.tasks.formats.contract.pipes import is_stream, refuse_resume
from gangsaw.tasks.formats.exporting.atomic import check_target, write_whole_files
from gangsaw.tasks.jobs.runs.resume import hint_at_resume
from gangsaw.tasks.jobs.steps.work_folder import StepFolder, begin_steps
from gangsaw.tasks.store.objects.files import is_same_file
from gangsaw.tasks.store.objects.versions import Watch, all_versions, file_versions
from gangsaw.tasks.store.source import open_zarr
from gangsaw.tasks.tcr.annotation.alleles import HEADER, AlleleCandidate, find_allele_candidates
from gangsaw.tasks.tcr.annotation.batch import AnnotateTask, BatchFound
from gangsaw.tasks.tcr.annotation.d_genes import DRuns
from gangsaw.tasks.tcr.annotation.index import GeneIndex, build_gene_index
from gangsaw.tasks.tcr.annotation.nucleotypes import (
    MergeRule,
    NucleotypeRow,
    merge_errors,
    nucleotypes_of,
)
from gangsaw.tasks.tcr.annotation.reading import (
    NumberedMates,
    batches_of,
    check_reads,
    identify_reads,
    is_store,
)
from gangsaw.tasks.tcr.annotation.rows import MORE, build_nucleotype_rows, reasons
from gangsaw.tasks.tcr.annotation.spool import Spool
from gangsaw.tasks.tcr.germline.genes.genes import WholeGenes
from gangsaw.tasks.tcr.repertoire import airr_rows

if TYPE_CHECKING:
    from distributed import Client

ALLELES = ".alleles.tsv"  # suffix of the second table, which is written next to the target
VERSION = 1  # version of the step folder
SAME = "reads, genes and options"
ROWS = 1 << 14  # rows written at once


@dataclass(frozen=True)
class AnnotateChoice:
    """Options of an annotation job.

    Parameters
    ----------
    rule : `MergeRule`, optional
        Rule that decides which nucleotypes are sequencing errors of others.
    tolerated : float, default 0.1
        Share of the V and J bases outside the CDR3 that may differ.
    keep_unproductive : bool, default False
        True writes nucleotypes out of frame or with a stop codon, too.
    interleaved : bool, default False
        True if mates alternate in the only file.
    overwrite : bool, default False
        True replaces an existing table, and the steps of an earlier run.
    resume : bool, default False
        True continues an interrupted run.

    See Also
    --------
    annotate : Run the job.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> choice = tcr.AnnotateChoice(rule=tcr.MergeRule(max_errors=0), tolerated=0.05)
    >>> choice.rule.max_errors
    0
    """

    rule: MergeRule = field(default_factory=MergeRule)
    tolerated: float = 0.1
    keep_unproductive: bool = False
    interleaved: bool = False
    overwrite: bool = False
    resume: bool = False

    def __post_init__(self) -> None:
        """Raise `BadParams` if `tolerated` is out of range."""
        if not 0 <= self.tolerated < 0.5:
            raise BadParams(f"tolerated must be in 0..0.5, got {self.tolerated}")


@dataclass(frozen=True)
class AnnotateSummary:
    """Summary of an annotation job.

    Attributes
    ----------
    target, alleles : tables of nucleotypes, and of candidates of new alleles
    reads : number of reads; a pair counts once
    annotated : reads in the table
    merged : annotated reads with CDR3 errors that were merged into another nucleotype
    nucleotypes : rows of the table
    candidates : number of candidates of new alleles
    culled : number of rejected reads by reason
    notes : messages about genes, and about options that differ from those of the resumed run
    seconds : duration
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


@count_as_job("annotate", "target")
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
    """Find V gene, J gene and CDR3 of reads, and write their nucleotypes as an AIRR table.

    Candidates of new alleles are written to a second table, `target` with the suffix .alleles.tsv.

    Parameters
    ----------
    reads : list of str
        A FASTQ file, two of mates, compressed or not, pipes of them, or a store of reads.
    target : str
        Table to write.
    genes : `WholeGenes`
        Whole V and J genes.
    choice : `AnnotateChoice`, optional
        Options of the annotation.
    client : distributed.Client, optional
        Dask client. None runs in threads of this process.
    options : `Options`, optional
        Resources and retries of a run on Dask.
    on_progress : callable, optional
        Function that is called after each batch with the state of the job. The total number of
        batches is not known.

    Returns
    -------
    `AnnotateSummary`
        Numbers of reads and nucleotypes.

    Raises
    ------
    BadParams
        A path holds no reads, no read has a receptor, genes end at the CDR3, or a table may not be
        replaced.
    JobFailed
        The job stopped, or an input file changed during the job.

    See Also
    --------
    open_genes : Return whole genes.
    count_repertoires : Count the paths of the table's rows.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> files = ("reads_1.fastq", "reads_2.fastq")
    >>> made = tcr.simulate(
    ...     "truth.tsv",
    ...     tcr.ModelChoice(species="human"),
    ...     tcr.Wanted(n=20, depth=5),
    ...     tcr.SimulateChoice(reads=files),
    ... )
    >>> genes = tcr.open_genes("olga", locus="TRB", species="human")
    >>> summary = tcr.annotate(files, "found.tsv", genes)
    >>> summary.reads == made.pairs, 0 < summary.nucleotypes <= 20
    (True, True)
    """
    choice, index, began = choice or AnnotateChoice(), build_gene_index(genes), time.monotonic()
    refuse_resume(reads, resume=choice.resume)
    beside = StepFolder(target, choice.resume, choice.overwrite)
    if is_stream(target):
        raise BadParams(f"{target} is a stream, and two tables are written: name a file")
    targets = [Path(target), Path(f"{target}{ALLELES}")]
    check_reads(reads, interleaved=choice.interleaved)
    _spare_reads(reads, targets)
    beside.check()
    check_target(targets[1], overwrite=beside.replaces)
    watch = _watching(reads)
    dry_run.stop(lambda: JobPlan(", ".join(reads), tuple(map(str, targets)), format="AIRR"))
    with beside.open() as folder:
        with (
            watch.check_at_end(lambda: shutil.rmtree(folder, ignore_errors=True)),
            hint_at_resume(),
        ):
            spool = Spool(folder, begin_steps(folder, _own(reads, index, choice), SAME))
            told = spool.chosen(_anew(choice))
            _fill(spool, reads, index, choice, client, options, Meter(0, on_progress))
        found = _found(spool, index, choice)
        if found.kept:
            _write(found, targets, index, genes, overwrite=beside.replaces)
    if not found.kept:
        raise _build_no_rows_error(found)
    kept = found.kept
    return AnnotateSummary(
        target,
        str(targets[1]),
        found.reads,
        sum(one.reads for one in kept),
        sum(one.merged for one in kept),
        len(kept),
        len(found.odd),
        dict(found.culled),
        (*genes.notes, *told),
        time.monotonic() - began,
    )


def _fill(
    spool: Spool,
    reads: Sequence[str],
    index: GeneIndex,
    choice: AnnotateChoice,
    client: Client | None,
    options: Options | None,
    meter: Meter,
) -> None:
    """Annotate the batches that an earlier run did not finish."""
    if spool.is_complete:
        return
    meter.add(sum(one.raw_bytes for one in spool.entries.values()), 0, 0, resumed=True)

    def take(batch: NumberedMates, found: BatchFound) -> None:
        spool.put(batch.number, found)
        meter.add(found.reads, 0, 0)

    batches = batches_of(reads, interleaved=choice.interleaved)
    task = AnnotateTask(index, choice.tolerated)
    run_batches(task, spool.left(batches), take, client=client, options=options)
    spool.finish()


@dataclass(frozen=True)
class _Receptors:
    """Result of a job: rows and allele candidates to write, numbers of reads to report."""

    kept: list[NucleotypeRow]
    odd: list[AlleleCandidate]
    reads: int
    culled: Counter[str]


def _found(spool: Spool, index: GeneIndex, choice: AnnotateChoice) -> _Receptors:
    """Merge the errors of all batches; return accepted nucleotypes, alleles and read counts."""
    whole = spool.totals(index.genes[0].size)
    kept: list[NucleotypeRow] = []
    for length, numbers in sorted(whole.lengths.items()):
        own = merge_errors(nucleotypes_of(spool.keys(length, numbers)), choice.rule)
        found = [one.row() for one in own]
        why = reasons(found, choice.rule, keep_unproductive=choice.keep_unproductive)
        for one, reason in zip(found, why, strict=True):
            whole.culled[reason] += one.reads if reason else 0
        kept += [one for one, reason in zip(found, why, strict=True) if not reason]
    kept.sort(key=lambda one: one.place)
    odd = find_allele_candidates(index, whole.letters, whole.bits)
    return _Receptors(kept, odd, whole.reads, +whole.culled)


def _spare_reads(reads: Sequence[str], targets: Sequence[Path]) -> None:
    """Raise `BadParams` if a target is one of the input files; `overwrite` does not permit this."""
    for path in reads:
        if any(is_same_file(Path(path), target) for target in targets):
            raise BadParams(f"{path} is to be read: name the table to write after the reads")


def _build_no_rows_error(found: _Receptors) -> BadParams:
    """Return the error of a job without accepted reads; its message gives the reasons."""
    if not found.reads:
        return BadParams("there are no reads")
    why = ", ".join(f"{n:,} {reason}" for reason, n in found.culled.most_common())
    return BadParams(
        f"of {found.reads:,} reads none has an accepted receptor: {why}; are species and chain "
        "those of the reads?"
    )


def _write(
    found: _Receptors,
    targets: Sequence[Path],
    index: GeneIndex,
    genes: WholeGenes,
    *,
    overwrite: bool,
) -> None:
    d_genes = DRuns.of(genes, index)
    with write_whole_files(targets, overwrite=overwrite) as (table, own):
        with table.open("wb") as file:
            file.write(airr_rows.header(MORE))
            for first in range(0, len(found.kept), ROWS):
                some = found.kept[first : first + ROWS]
                file.write(build_nucleotype_rows(some, index, d_genes, genes.locus, first))
        own.write_text(HEADER + "".join(one.line() for one in found.odd), encoding="ascii")


def _own(reads: Sequence[str], index: GeneIndex, choice: AnnotateChoice) -> dict[str, object]:
    """Return the inputs, genes and options that must be equal when a job is resumed."""
    genes = hashlib.sha256(json.dumps(asdict(index)).encode()).hexdigest()
    return {
        "version": VERSION,
        "reads": [(path, identify_reads(path)) for path in reads],
        "genes": genes,
        "tolerated": choice.tolerated,
        "interleaved": choice.interleaved,
    }


def _anew(choice: AnnotateChoice) -> dict[str, object]:
    """Return the options of the steps after the batches, which may change on resume."""
    return {**asdict(choice.rule), "keep_unproductive": choice.keep_unproductive}


def _watching(reads: Sequence[str]) -> Watch:
    """Start to watch the input files and stores for changes."""
    files = [path for path in reads if not is_store(path)]
    stores = [open_zarr(path) for path in reads if is_store(path)]
    return Watch.of_versions(lambda: file_versions(*files) | all_versions(stores))
