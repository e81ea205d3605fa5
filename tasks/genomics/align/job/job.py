"""Alignment as steps, each with a journal, in a folder next to the target until it is complete.

    queries  read the files once, into batches
    index    bases and minimizers of each part of the genome, stored next to the genome's store
    hits     alignments of each batch in each part
    text     hits of each batch in all parts: merged, selected, written

Batches and parts depend on queries and genome alone, so the target has the same bytes for any
number of workers and after any number of runs. All steps but the first run on workers.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_as_job
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.formats.contract.pipes import is_stream, open_target, refuse_resume
from gangsaw.tasks.formats.exporting.atomic import write_whole_files
from gangsaw.tasks.genomics.align.job.bundle import map_arrays, pack_arrays
from gangsaw.tasks.genomics.align.job.genome import GenomeParts, GenomeText, open_genome
from gangsaw.tasks.genomics.align.job.indexing import IndexStep
from gangsaw.tasks.genomics.align.job.shared_index import NoLocks, locate_shared_index
from gangsaw.tasks.genomics.align.job.steps import (
    COUNTS,
    FoundHits,
    MakeHits,
    MakeText,
    WrittenLines,
    gzipped,
)
from gangsaw.tasks.genomics.align.output.formats import FORMATS, format_of, is_gzip_target
from gangsaw.tasks.genomics.align.output.lines import Heading
from gangsaw.tasks.genomics.align.output.mates import check_mates
from gangsaw.tasks.genomics.align.output.read_group import read_group_of
from gangsaw.tasks.genomics.align.queries.reading import (
    BATCH_BYTES,
    are_paired,
    is_query_store,
    read_query_batches,
)
from gangsaw.tasks.genomics.align.search.params import SearchParams
from gangsaw.tasks.genomics.align.statistics.significance import gapped_significance
from gangsaw.tasks.genomics.reads.order.intake import stamp_of
from gangsaw.tasks.jobs.runs.resume import hint_at_resume
from gangsaw.tasks.jobs.steps.step_objects import (
    Made,
    StepOutputs,
    StepOutputsTask,
    compute_missing,
)
from gangsaw.tasks.jobs.steps.work_folder import StepFolder, begin_steps
from gangsaw.tasks.store.objects.versions import Watch, all_versions, file_versions
from gangsaw.tasks.store.source import open_zarr

if TYPE_CHECKING:
    from distributed import Client

# of the folder; 1 identified a store by metadata, not by content; 2 had no `eqx`, 3 no groups
VERSION = 4
STDOUT = "-"
BATCH_COPIES = 64  # bytes of memory of a task per byte of a batch, with its hits


@dataclass(frozen=True)
class AlignCuts:
    """Sizes of the units of work.

    Attributes
    ----------
    batch_bytes : bytes of a batch of queries, with their names and qualities
    part_letters : bases of a part of the genome
    overlap : bases of either neighbour that a part includes
    """

    batch_bytes: int = BATCH_BYTES
    part_letters: int = 1 << 25
    overlap: int = 1 << 14


@dataclass(frozen=True)
class AlignChoice:
    """Options of an alignment job: its output, and the treatment of earlier runs.

    Attributes
    ----------
    format : one of FORMATS, "" for that of the target's suffix
    resume : finish an earlier run
    overwrite : replace an existing target, and the steps of an earlier run
    cuts : sizes of the units of work
    keep_index : store the index next to the genome's store, for other jobs
    """

    format: str = ""
    resume: bool = False
    overwrite: bool = False
    cuts: AlignCuts = field(default_factory=AlignCuts)
    keep_index: bool = True


@dataclass(frozen=True)
class AlignSummary:
    """Result of an alignment job.

    Attributes
    ----------
    target : file of the hits
    format : format of the target
    queries, aligned, hits : number of queries, of queries with a hit, of hits
    letters : bases of the queries
    residues : bases of the genome
    seconds : duration of this run
    index : message on the index: built or found, and its folder
    """

    target: str
    format: str
    queries: int
    aligned: int
    hits: int
    letters: int
    residues: int
    seconds: float
    index: str


@count_as_job("align", "target")
def align_job(
    queries: Sequence[str],
    genome: str,
    target: str,
    params: SearchParams | None = None,
    *,
    choice: AlignChoice | None = None,
    client: Client | None = None,
    on_progress: OnProgress | None = None,
) -> AlignSummary:
    """Align queries with a stored genome; write the hits to a file in the queries' order.

    Parameters
    ----------
    queries : paths of FASTA and FASTQ (packed or not), of pipes with such data ("-" is standard
        input), and of stores of reads or genomes
    genome : store of a genome
    target : path, or "-" for standard output
    params : parameters of the search and the report
    choice : format, and the treatment of earlier runs
    client : Dask client; None works in threads of this process
    on_progress : called after each task

    Raises
    ------
    BadParams : a path has no queries or no genome, the target may not be replaced, or the format
        cannot represent a name or needs e-values that these scores do not have
    JobFailed : the job stopped, and `resume` continues it; or queries or genome changed while they
        were read, and all output is discarded
    """
    started = time.monotonic()
    params, choice = params or SearchParams(), choice or AlignChoice()
    kind = format_of(target, choice.format)
    _check_format(kind, params)
    refuse_resume(queries, resume=choice.resume)
    watch = _watching(queries, genome)
    opened = open_genome(genome)
    beside = StepFolder(target, choice.resume, choice.overwrite)
    if not is_stream(target):
        beside.check()
    elif choice.resume:
        raise BadParams(f"{target} is a stream, which is not resumed: leave --resume out")
    dry_run.stop(lambda: JobPlan(", ".join([*queries, genome]), (target,), format=kind))
    with _folder(target, beside) as folder:
        with (
            watch.check_at_end(lambda: shutil.rmtree(folder, ignore_errors=True)),
            hint_at_resume(),
        ):
            own = WrittenLines(
                kind, is_gzip_target(target, kind), are_paired(queries, params.pairs)
            )
            keep = choice.keep_index
            job = _AlignSteps(
                tuple(queries), opened, params, own, keep, choice.cuts, folder, client
            )
            job.begin()
            texts, told = job.run(on_progress)
        with _output(target, choice) as file:
            command = command_of(queries, genome, target, params, kind)
            group = read_group_of(params.read_group)
            heading = Heading(opened.names, opened.lengths.tolist(), command, group)
            header = FORMATS[kind].header(heading)
            file.write(gzipped(header) if is_gzip_target(target, kind) else header)
            counts = [0] * len(COUNTS)
            for path in texts:
                arrays = map_arrays(path)
                file.write(arrays["text"].data)
                counts = [int(a) + b for a, b in zip(arrays["counts"], counts, strict=True)]
            file.write(FORMATS[kind].footer)
    seconds = time.monotonic() - started
    figures = dict(zip(COUNTS, counts, strict=True))
    return AlignSummary(
        target, kind, **figures, residues=opened.residues, seconds=seconds, index=told
    )


def _check_format(kind: str, params: SearchParams) -> None:
    """Raise BadParams, before the search, for options that a format does not support."""
    if FORMATS[kind].has_evalues:
        gapped_significance(params.scores)
    if read_group_of(params.read_group) and not FORMATS[kind].has_groups:
        raise BadParams(f"read groups are of SAM and BAM, not of {kind}")
    if kind == "bam":
        with extras_named("BAM"):
            import_module("pysam")


def command_of(
    queries: Sequence[str], genome: str, target: str, params: SearchParams, kind: str
) -> str:
    """Return the command line that repeats the job.

    It is canonical, so resumed jobs write equal bytes.
    """
    usual, options = SearchParams(), [f"--format={kind}"]
    for own, default in ((params.scores, usual.scores), (params, usual)):
        for one in fields(own):
            value = getattr(own, one.name)
            if value != getattr(default, one.name) and one.name != "scores":
                flag = f"--{one.name.replace('_', '-')}"
                options.append(flag if value is True else f"{flag}={value}")
    return shlex.join(["gangsaw", "align", *options, "--", *queries, genome, target])


@contextmanager
def _folder(target: str, steps: StepFolder) -> Iterator[Path]:
    """Yield the folder of the job's intermediate files, next to the target.

    Remove it after success.
    """
    if is_stream(target):
        with tempfile.TemporaryDirectory(prefix="gangsaw-align-") as name:
            yield Path(name)
        return
    with steps.open() as folder:
        yield folder


def _identity(path: str) -> str:
    """Return the fingerprint of the content of a store of queries, or size and time of a file."""
    return open_zarr(path).identity() if is_query_store(path) else stamp_of(path)


def _watching(queries: Iterable[str], genome: str) -> Watch:
    """Start a watch for changes of the files and stores of queries and of the genome."""
    files = [path for path in queries if not is_query_store(path)]
    stores = [open_zarr(path) for path in (*queries, genome) if path not in files]
    return Watch.of_versions(lambda: file_versions(*files) | all_versions(stores))


@contextmanager
def _output(target: str, choice: AlignChoice) -> Iterator[BinaryIO]:
    """Yield a temporary file that becomes the target when it is complete."""
    if target == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if is_stream(target):
        with open_target(target) as stream:
            yield stream
        return
    overwrite = choice.overwrite or choice.resume
    with write_whole_files([Path(target)], overwrite=overwrite) as (part,), part.open("wb") as file:
        yield file


@dataclass(frozen=True)
class _AlignSteps:
    """Steps of one alignment job: index the genome, store queries, search, write lines."""

    queries: tuple[str, ...]
    genome: GenomeText
    params: SearchParams
    written: WrittenLines
    keep_index: bool
    cuts: AlignCuts
    folder: Path
    client: Client | None

    def begin(self) -> None:
        """Record the job in its folder; raise BadParams if the folder belongs to another job."""
        begin_steps(self.folder, self._own(), "queries, genome and options")

    def run(self, on_progress: OnProgress | None) -> tuple[list[Path], str]:
        """Complete all steps; return the files of output lines, and the message on the index."""
        queries = self._store_queries()
        n_batches = self._n(queries)
        cut = GenomeParts(self.genome.residues, self.cuts.part_letters, self.cuts.overlap)
        hits, texts = self._parts("hits"), self._parts("text")
        meter = Meter((len(cut) + 1) * n_batches + len(cut), on_progress)
        indexes, told = self._indexed(cut, meter)
        search = MakeHits(self.genome, indexes, queries, n_batches, self.params)
        n, room = len(cut) * n_batches, BATCH_COPIES * self.cuts.batch_bytes
        self._complete(hits, search, n, room, meter)
        found = FoundHits(hits, indexes, cut, n_batches)
        write = MakeText(self.genome, found, queries, self.params, self.written)
        self._complete(texts, write, n_batches, room, meter)
        return [texts.path(batch) for batch in range(n_batches)], told

    def _indexed(self, cut: GenomeParts, meter: Meter) -> tuple[StepOutputs, str]:
        """Return the files of the index, shared or built for this job, and a message on it."""
        seeds = self.params.rules.seeds
        step = IndexStep(self.genome, cut, seeds, self.client)
        told = "made for this job"
        if self.keep_index and (kept := locate_shared_index(self.genome, cut, seeds)) is not None:
            try:
                return kept.parts, step.keep(kept, meter)
            except NoLocks as error:
                told = f"{told}: {error}"
        own = self._parts("index")
        step.build(own, meter)
        return own, told

    def _complete(
        self, parts: StepOutputs, make: Callable[[int], Made], n: int, peak_bytes: int, meter: Meter
    ) -> None:
        task = StepOutputsTask(parts.folder.name, parts, make, peak_bytes)
        compute_missing(task, n, self.client, meter)

    def _store_queries(self) -> StepOutputs:
        """Store the queries in batches, unless an earlier run did.

        Return the files of the batches.
        """
        parts = self._parts("queries")
        if parts.manifest() is None:
            parts.prefix.clean()
            entries = []
            found = read_query_batches(self.queries, self.cuts.batch_bytes, self.params.pairs)
            for number, batch in enumerate(found):
                FORMATS[self.written.format].check(batch)
                if self.written.is_paired:
                    check_mates(batch)
                data = pack_arrays(batch.arrays())
                records = parts.put(number, (data, len(data)))
                parts.journal_records([records])
                entries.append(records)
            parts.finish(entries)
        return parts

    def _n(self, parts: StepOutputs) -> int:
        manifest = parts.manifest()
        assert manifest is not None, "the step is complete"
        return len(manifest.rows)

    def _parts(self, step: str) -> StepOutputs:
        own = json.dumps({"step": step, "job": json.dumps(self._own(), sort_keys=True)}).encode()
        return StepOutputs(self.folder / step, hashlib.sha256(own).hexdigest())

    def _own(self) -> dict[str, object]:
        """Return the inputs and options that identify this job."""
        return {
            "version": VERSION,
            "queries": [(path, _identity(path)) for path in self.queries],
            "genome": self.genome.identity,
            "params": asdict(self.params),
            "written": asdict(self.written),
            "cuts": asdict(self.cuts),
        }
