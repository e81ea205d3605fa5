"""An alignment as steps, each with a journal, in a folder beside the target until that is complete.

    queries  files are read once, into batches
    index    letters and minimizers of each part of the genome, which are kept beside its store
    hits     alignments of each batch in each part
    text     the hits of each batch in all parts: joined, chosen, written

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
from gangsaw.codecs.core.extras import extras_named
from gangsaw.tasks.align.job.bundle import mapped, packed
from gangsaw.tasks.align.job.genome import GenomeParts, GenomeText, open_genome
from gangsaw.tasks.align.job.indexing import IndexStep
from gangsaw.tasks.align.job.kept import NoLocks, kept_index
from gangsaw.tasks.align.job.makers import (
    COUNTS,
    FoundHits,
    MakeHits,
    MakeText,
    WrittenLines,
    gzipped,
)
from gangsaw.tasks.align.output.formats import FORMATS, format_of, is_packed
from gangsaw.tasks.align.output.lines import Heading
from gangsaw.tasks.align.output.mates import check_mates
from gangsaw.tasks.align.output.read_group import read_group_of
from gangsaw.tasks.align.queries.reading import BATCH_BYTES, are_paired, batches_of, is_store
from gangsaw.tasks.align.search.params import SearchParams
from gangsaw.tasks.align.statistics.significance import gapped_significance
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.rehearsal import JobPlan
from gangsaw.tasks.engine.tally import job_of
from gangsaw.tasks.formats.atomic import whole_files
from gangsaw.tasks.jobs.beside import StepsBeside, begin_steps
from gangsaw.tasks.jobs.parts import Made, Parts, PartsTask, complete
from gangsaw.tasks.jobs.resume import can_be_resumed
from gangsaw.tasks.reads.order.intake import stamp_of
from gangsaw.tasks.store.source import open_zarr
from gangsaw.tasks.store.stamps import Watch, all_stamps, file_stamps

if TYPE_CHECKING:
    from distributed import Client

# of the folder; 1 knew a store by its metadata, not by its content, 2 no `eqx`, 3 no groups
VERSION = 4
STDOUT = "-"
BATCH_COPIES = 64  # bytes that a task needs of a byte of a batch, with its hits


@dataclass(frozen=True)
class AlignCuts:
    """How much goes into one task.

    Attributes
    ----------
    batch_bytes : of queries, with their names and qualities
    part_letters : of the genome
    overlap : letters that a part reads of either neighbour
    """

    batch_bytes: int = BATCH_BYTES
    part_letters: int = 1 << 25
    overlap: int = 1 << 14


@dataclass(frozen=True)
class AlignChoice:
    """What a job of aligning writes, and may replace or resume.

    Attributes
    ----------
    format : one of FORMATS, "" for that of the target's suffix
    resume : finish what an earlier run began
    overwrite : replace an existing target, and what an earlier run left
    cuts : how much goes into one task
    keep_index : beside the store of the genome, for other jobs
    """

    format: str = ""
    resume: bool = False
    overwrite: bool = False
    cuts: AlignCuts = field(default_factory=AlignCuts)
    keep_index: bool = True


@dataclass(frozen=True)
class AlignSummary:
    """What a job did.

    Attributes
    ----------
    target : where the hits are
    format : of the target
    queries, aligned, hits : how many there are; those with a hit
    letters : of the queries
    residues : of the genome
    seconds : that this run took
    index : whether that of the genome was made or found, and where it is kept
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


@job_of("align", "target")
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
    queries : paths of FASTA, FASTQ (packed or not) and stores of reads or genomes
    genome : store of a genome
    target : path, or "-" for standard output
    params : what is searched for and reported
    choice : format, and what may be replaced or resumed
    client : Dask client; None works in threads of this process
    on_progress : called after each task

    Raises
    ------
    BadParams : a path holds no queries or no genome, or the target may not be replaced; the format
        has no place for a name, or needs e-values that these scores do not have
    JobFailed : the job stopped; what is finished is kept, and `resume` goes on from there; or
        queries or genome changed while they were read: nothing that was made of them is kept
    """
    started = time.monotonic()
    params, choice = params or SearchParams(), choice or AlignChoice()
    kind = format_of(target, choice.format)
    _check_format(kind, params)
    watch = _watching(queries, genome)
    opened = open_genome(genome)
    beside = StepsBeside(target, choice.resume, choice.overwrite)
    if target != STDOUT:
        beside.check()
    rehearsal.stop(lambda: JobPlan(", ".join([*queries, genome]), (target,), format=kind))
    with _folder(target, beside) as folder:
        with watch.held(lambda: shutil.rmtree(folder, ignore_errors=True)), can_be_resumed():
            own = WrittenLines(kind, is_packed(target, kind), are_paired(queries, params.pairs))
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
            file.write(gzipped(header) if is_packed(target, kind) else header)
            counts = [0] * len(COUNTS)
            for path in texts:
                arrays = mapped(path)
                file.write(arrays["text"].data)
                counts = [int(a) + b for a, b in zip(arrays["counts"], counts, strict=True)]
            file.write(FORMATS[kind].footer)
    seconds = time.monotonic() - started
    figures = dict(zip(COUNTS, counts, strict=True))
    return AlignSummary(
        target, kind, **figures, residues=opened.residues, seconds=seconds, index=told
    )


def _check_format(kind: str, params: SearchParams) -> None:
    """Raise BadParams, before the search, for what a format does not take."""
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
    """Return a command that writes the same: whoever resumes a job writes the same bytes."""
    usual, options = SearchParams(), [f"--format={kind}"]
    for own, default in ((params.scores, usual.scores), (params, usual)):
        for one in fields(own):
            value = getattr(own, one.name)
            if value != getattr(default, one.name) and one.name != "scores":
                flag = f"--{one.name.replace('_', '-')}"
                options.append(flag if value is True else f"{flag}={value}")
    return shlex.join(["gangsaw", "align", *options, "--", *queries, genome, target])


@contextmanager
def _folder(target: str, beside: StepsBeside) -> Iterator[Path]:
    """Yield the folder of the steps; it is removed when all went well."""
    if target == STDOUT:
        with tempfile.TemporaryDirectory(prefix="gangsaw-align-") as name:
            yield Path(name)
        return
    with beside.opened() as folder:
        yield folder


def _identity(path: str) -> str:
    """Return what identifies the content of a file or store of queries."""
    return open_zarr(path).identity() if is_store(path) else stamp_of(path)


def _watching(queries: Iterable[str], genome: str) -> Watch:
    """Begin to watch files and stores of queries, and the genome."""
    files = [path for path in queries if not is_store(path)]
    stores = [open_zarr(path) for path in (*queries, genome) if path not in files]
    return Watch.by(lambda: file_stamps(*files) | all_stamps(stores))


@contextmanager
def _output(target: str, choice: AlignChoice) -> Iterator[BinaryIO]:
    """Yield a file, which becomes the target when it is complete."""
    if target == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    overwrite = choice.overwrite or choice.resume
    with whole_files([Path(target)], overwrite=overwrite) as (part,), part.open("wb") as file:
        yield file


@dataclass(frozen=True)
class _AlignSteps:
    """The steps of one alignment."""

    queries: tuple[str, ...]
    genome: GenomeText
    params: SearchParams
    written: WrittenLines
    keep_index: bool
    cuts: AlignCuts
    folder: Path
    client: Client | None

    def begin(self) -> None:
        """Say whose folder it is; BadParams where it is that of another job."""
        begin_steps(self.folder, self._own(), "queries, genome and options")

    def run(self, on_progress: OnProgress | None) -> tuple[list[Path], str]:
        """Do what is left of all steps; return the files of text, and what is told of the index."""
        queries = self._taken_in()
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

    def _indexed(self, cut: GenomeParts, meter: Meter) -> tuple[Parts, str]:
        """Return the index, made where none is kept, and what is told of it."""
        seeds = self.params.rules.seeds
        step = IndexStep(self.genome, cut, seeds, self.client)
        told = "made for this job"
        if self.keep_index and (kept := kept_index(self.genome, cut, seeds)) is not None:
            try:
                return kept.parts, step.keep(kept, meter)
            except NoLocks as error:
                told = f"{told}: {error}"
        own = self._parts("index")
        step.build(own, meter)
        return own, told

    def _complete(
        self, parts: Parts, make: Callable[[int], Made], n: int, room: int, meter: Meter
    ) -> None:
        task = PartsTask(parts.folder.name, parts, make, room)
        complete(task, n, self.client, meter)

    def _taken_in(self) -> Parts:
        """Store the queries in batches, unless an earlier run did; return them."""
        parts = self._parts("queries")
        if parts.manifest() is None:
            parts.place.clean()
            entries = []
            found = batches_of(self.queries, self.cuts.batch_bytes, self.params.pairs)
            for number, batch in enumerate(found):
                FORMATS[self.written.format].check(batch)
                if self.written.is_paired:
                    check_mates(batch)
                data = packed(batch.arrays())
                records = parts.put(number, (data, len(data)))
                parts.note([records])
                entries.append(records)
            parts.finish(entries)
        return parts

    def _n(self, parts: Parts) -> int:
        manifest = parts.manifest()
        assert manifest is not None, "the step is complete"
        return len(manifest.rows)

    def _parts(self, step: str) -> Parts:
        own = json.dumps({"step": step, "job": json.dumps(self._own(), sort_keys=True)}).encode()
        return Parts(self.folder / step, hashlib.sha256(own).hexdigest())

    def _own(self) -> dict[str, object]:
        """Return what makes it this job."""
        return {
            "version": VERSION,
            "queries": [(path, _identity(path)) for path in self.queries],
            "genome": self.genome.identity,
            "params": asdict(self.params),
            "written": asdict(self.written),
            "cuts": asdict(self.cuts),
        }
