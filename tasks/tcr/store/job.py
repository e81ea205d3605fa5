"""Counting job: reads repertoires, and counts their paths into a Zarr store, in two phases."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from zarr.abc.store import Store
from zarr.core.buffer import Buffer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_as_job
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import Options, run_batches
from gangsaw.tasks.formats.exporting.atomic import check_target, write_whole_files
from gangsaw.tasks.jobs.chunks.device import share_of_device
from gangsaw.tasks.jobs.runs.resume import hint_at_resume
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.objects.files import is_same_file
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.objects.versions import Watch
from gangsaw.tasks.store.skeleton import digest
from gangsaw.tasks.store.state.journal import Job, Journal
from gangsaw.tasks.store.state.lease import hold_lease
from gangsaw.tasks.store.state.manifest import fold_parts, write_manifest
from gangsaw.tasks.store.state.records import Records
from gangsaw.tasks.store.state.target import Target, choose_target, write_skeleton
from gangsaw.tasks.tcr.repertoire.cleaning.dropped import write_dropped
from gangsaw.tasks.tcr.repertoire.inputs import Input
from gangsaw.tasks.tcr.store.chunk import Chunk, CountChunk
from gangsaw.tasks.tcr.store.contents import FIRST, Contents, nbytes
from gangsaw.tasks.tcr.store.reading import ReadRepertoire, opened_input
from gangsaw.tasks.tcr.store.setup import CountChoice, PhaseProgress, Setup
from gangsaw.tasks.tcr.store.staging import FileRows, Staging
from gangsaw.tasks.tcr.store.summary import CountRun, CountSummary, summarize_counts
from gangsaw.tasks.tcr.store.values import AT_ONCE_BYTES, CountTables, counted_bytes

if TYPE_CHECKING:
    from distributed import Client

# times the raw bytes of a chunk: values as counted, and the copies of Zarr and the codec
COPIES = 3


@count_as_job("count", "target")
def count_repertoires(
    inputs: Sequence[Input],
    target: str | Path | Store,
    setup: Setup,
    *,
    choice: CountChoice | None = None,
    client: Client | None = None,
    options: Options | None = None,
    progress: PhaseProgress | None = None,
) -> CountSummary:
    """Read repertoires, count the paths of each kept row, and write them to a Zarr v3 group.

    Rows stay in the order of the files, and of the lines in each. Until all are counted, the group
    has no metadata at its root, so that no reader can mistake it for a complete one.

    Parameters
    ----------
    inputs : tuple of Input
        Files, as `open_inputs` returns them.
    target : path, address or Zarr store
        Store to write.
    setup : Setup
        Germline, model and filters.
    choice : `CountChoice`, optional
        Options on replacing, resuming and dropping.
    client : distributed.Client, optional
        Dask client. None runs in this thread.
    options : `Options`, optional
        Device, resources and retries of a run on Dask.
    progress : `PhaseProgress`, optional
        Callbacks after each file, and after each chunk.

    Returns
    -------
    `CountSummary`
        Numbers of rows, and why rows were dropped.

    Raises
    ------
    BadParams
        A file cannot be read, no row was kept, or the target may not be replaced.
    JobFailed
        The job stopped; `resume` continues it from its finished steps. Or a file changed during the
        job, and its output was discarded.

    See Also
    --------
    count_paths : Count paths of sequences in memory.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> made = tcr.simulate("donor.tsv", tcr.ModelChoice(species="human"), tcr.Wanted(n=20))
    >>> germline = tcr.open_germline("olga", locus="TRB", species="human")
    >>> setup = tcr.Setup(germline, tcr.Model(max_n=2, max_p=1))
    >>> summary = tcr.count_repertoires(tcr.open_inputs(["donor.tsv"]), "donor.zarr", setup)
    >>> summary.rows, summary.kept, summary.samples
    (20, 20, 1)
    """
    started, watch = time.monotonic(), Watch.of_sources(*inputs)
    choice, progress = choice or CountChoice(), progress or PhaseProgress()
    final = open_prefix(target, writable=True)
    table = choice.table or default_table(final)
    _spare_inputs(inputs, final, table)
    reading = _reading_job(inputs, setup)
    with hold_lease(final) as lease:
        place = choose_target(
            final,
            {FIRST: reading},
            lease.confirm,
            resume=choice.resume,
            overwrite=choice.overwrite,
        )
        check_target(table, overwrite=choice.replaces_table)
        dry_run.stop(lambda: _plan(inputs, final, table, setup))
        job = _Phases(inputs, setup, place, reading, choice, client, options or Options())
        read_seconds, n_counted = _run_phases(job, watch, table, progress, started)
        job.publish(n_counted)
    seconds = time.monotonic() - started
    return summarize_counts(final, str(table), CountRun(n_counted, seconds, read_seconds))


def _run_phases(
    job: _Phases, watch: Watch, table: Path, progress: PhaseProgress, started: float
) -> tuple[float, int]:
    """Run the unfinished steps of both phases, reading and counting.

    Return the seconds of reading, and the number of counted rows.
    """
    work, resume, read_seconds, n_counted = job.place.work, job.choice.resume, 0.0, 0
    if resume:
        work.clean()
    if not work.has(METADATA):
        with _left_as_found(job.place, resume):
            with watch.check_at_end(job.give_up), hint_at_resume():
                files = job.read(progress.on_read)
            read_seconds = time.monotonic() - started
            with hint_at_resume():
                contents = job.contents(files, table)
        with hint_at_resume():
            n_counted = job.count(contents, progress.on_count)
    job.clear()
    return read_seconds, n_counted


def check_inputs(inputs: Sequence[Input], setup: Setup) -> None:
    """Raise `BadParams` before any work if files are no repertoires; it names all of them."""
    problems = []
    for file in inputs:
        try:
            opened_input(file, setup)
        except BadParams as error:
            problems.append(str(error))
    if problems:
        raise BadParams("; ".join(problems))


def _plan(inputs: Sequence[Input], final: Prefix, table: Path, setup: Setup) -> JobPlan:
    note = f"rows, and what they need, are known when the {len(inputs)} files are read"
    names = ", ".join(str(file) for file in inputs)
    return JobPlan(names, (str(final), str(table)), notes=(note, *setup.notes))


def default_table(store: Prefix) -> Path:
    """Return the default path of the table of dropped rows."""
    name = Path(str(store).rstrip("/")).name.removesuffix(".zarr")
    folder = store.folder.parent if store.folder is not None else Path()
    return folder / f"{name}.dropped.tsv"


def _reading_job(inputs: Sequence[Input], setup: Setup) -> Job:
    source = "; ".join(file.identity() for file in inputs)
    return Job(source=source, array=setup.digest, n_chunks=0, batch_chunks=1)  # unknown yet


def _build_no_rows_error(contents: Contents, lines: Iterable[bytes]) -> BadParams:
    """Return the error of a job without rows; `lines` are those of the table of dropped rows."""
    problems = [file.problem for file in contents.files if file.problem]
    dropped = [f"{n} {reason}" for reason, n in contents.dropped.items()]
    why = ", ".join(dropped + problems) or "there is none"
    first = next(iter(lines), b"").decode().partition("\n")[0].split("\t")
    example = "; the first is {0}, line {1}: {3}, {4}".format(*first) if first[4:] else ""
    return BadParams(f"no row was accepted: {why}{example}")


def _spare_inputs(inputs: Sequence[Input], target: Prefix, table: Path) -> None:
    """Raise `BadParams` if a target is one of the inputs; no option permits this."""
    for path in (table, target.folder):
        for file in inputs:
            if path is not None and is_same_file(path, Path(file.path)):
                raise BadParams(f"{file.name} is to be read: write to another path than {path}")


@dataclass(frozen=True)
class _Phases:
    """Phases of a counting job: reading, counting and completion."""

    inputs: Sequence[Input]
    setup: Setup
    place: Target
    reading: Job
    choice: CountChoice
    client: Client | None
    options: Options

    @property
    def staging(self) -> Staging:
        return Staging(self.place.work / FIRST, self.reading.fingerprint, self.setup.chunk_rows)

    def read(self, on_read: OnProgress | None) -> list[FileRows]:
        """Stage the rows of all files; return the result of each."""
        keep_going = self.choice.keep_going
        write_skeleton(self.place, {}, {FIRST: self.reading})
        found = self.staging.finished(len(self.inputs))
        meter = Meter(len(self.inputs), on_read)
        meter.resume(len(found), sum(self.inputs[i].n_bytes for i in found), 0)
        for i, file in found.items():
            _refuse(self.inputs[i], file, keep_going)

        def on_done(file: Input, result: FileRows) -> None:
            self.place.confirm()
            _refuse(file, result, keep_going)
            found[file.number] = result
            meter.add(1, file.n_bytes, 0)

        task = ReadRepertoire(self.staging, self.setup, keep_going, self.choice.durable)
        left = [file for file in self.inputs if file.number not in found]
        options = Options(resources=self.options.resources, retries=self.options.retries)
        run_batches(task, left, on_done, client=self.client, options=options)
        return [found[file.number] for file in self.inputs]

    def contents(self, files: Sequence[FileRows], table: Path) -> Contents:
        """Write the table of dropped rows; return the contents of the store."""
        contents = Contents(self.inputs, self.setup, files)
        lines = self.staging.read_dropped(files)
        if not contents.n:
            raise _build_no_rows_error(
                contents, lines
            )  # before the table, which a later run would find
        with write_whole_files([table], overwrite=self.choice.replaces_table) as (part,):
            write_dropped(lines, part)
        return contents

    def count(self, contents: Contents, on_count: OnProgress | None) -> int:
        """Count the references and complete the store; return the number counted by this run."""
        objects = contents.objects()
        inner = {key: data for key, data in objects.items() if key != METADATA}
        write_skeleton(self.place, inner, {FIRST: self.reading})
        chunks = contents.chunks(self.staging.piece_rows)
        task, job = self._count_task(contents, objects, len(chunks))
        entries = task.journal.read_all(job.batches)
        left = [chunk for chunk in chunks if task.records_of(chunk).start not in entries]
        meter = Meter(contents.n, on_count)
        n_left = sum(chunk.n_rows for chunk in left)
        meter.resume(contents.n - n_left, 0, 0)

        def on_done(chunk: Chunk, records: Records) -> None:
            self.place.confirm()
            entries[records.first] = records
            meter.add(chunk.n_rows, records.raw_bytes, records.stored_bytes)

        run_batches(task, left, on_done, client=self.client, options=self.options)
        self._complete(contents, fold_parts(job.fingerprint, entries.values()), objects[METADATA])
        return n_left

    def give_up(self) -> None:
        """Remove the staged rows after an input file has changed."""
        self.place.confirm()
        (self.place.work / FIRST).delete_all()

    def clear(self) -> None:
        """Remove the files that only the job needed."""
        self.place.confirm()
        self.staging.remove()
        Journal(self.place.work / FIRST, "", 1).remove()

    def publish(self, n_counted: int) -> None:
        """Move the store to its final address."""
        self.place.publish()
        if n_counted:  # not after the resume of a finished job
            self.place.remove_abandoned()

    def _count_task(
        self, contents: Contents, objects: Mapping[str, Buffer], n_chunks: int
    ) -> tuple[CountChunk, Job]:
        arrays = contents.arrays()
        metadata = {a.name: objects[f"{a.name}/{METADATA}"].to_bytes() for a in arrays}
        job = Job(
            source=self.reading.fingerprint,
            array=" ".join(digest(objects[f"{a.name}/{METADATA}"]) for a in arrays),
            n_chunks=n_chunks * len(arrays),
            batch_chunks=len(arrays),
        )
        chunk_bytes = sum(nbytes(a) for a in arrays) // n_chunks
        counted = counted_bytes(self.setup, contents.chunk_rows)
        share = share_of_device(n_chunks, max(chunk_bytes, counted))
        if not self.setup.has_by_d:  # most counts are in memory for a while, and not stored
            chunk_bytes += min(counted, AT_ONCE_BYTES)
        task = CountChunk(
            staging=self.staging,
            target=self.place.work,
            metadata=metadata,
            values=CountTables(self.setup, tuple(contents.samples)),
            journal=Journal(self.place.work / FIRST, job.fingerprint, job.batch_chunks),
            peak_bytes=COPIES * chunk_bytes,
            device_batches=share.batches,
            device_peak_bytes=share.peak_bytes,
            durable=self.choice.durable,
        )
        return task, job

    def _complete(self, contents: Contents, records: Records, root: Buffer) -> None:
        """Write the manifest of each variable, then the metadata of the group."""
        self.place.confirm()
        arrays = contents.arrays()
        table = records.rows.reshape(-1, len(arrays))
        for i, array in enumerate(arrays):
            rows = np.ascontiguousarray(table[:, i])
            manifest = Records(records.job, 0, nbytes(array), rows)
            write_manifest(self.place.work / array.name, manifest)
        _write_root(self.place.work, root)


def _write_root(group: Prefix, metadata: Buffer) -> None:
    """Write the metadata at the store's root, which marks it as complete."""
    group.put(METADATA, metadata)
    group.flush([METADATA])


def _refuse(file: Input, found: FileRows, keep_going: bool) -> None:
    if found.problem and not keep_going:
        raise BadParams(f"{found.problem}; leave it out, or see --keep-going")


@contextmanager
def _left_as_found(target: Target, resumed: bool) -> Iterator[None]:
    """Context manager that removes all output after BadParams, unless the job was resumed.

    The next run will have another input.
    """
    try:
        yield
    except BadParams:
        if not resumed:
            target.confirm()
            work = target.work
            (work / FIRST).delete_all()
            if work.folder is not None:
                with suppress(OSError):
                    work.folder.rmdir()
        raise
