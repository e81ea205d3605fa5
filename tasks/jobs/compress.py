"""Compress a source into a Zarr store, or decompress one: a job of whole chunks with a journal."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from zarr.abc.store import Store

from gangsaw.codecs.core import table
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, JobFailed
from gangsaw.tasks.engine.progress import Amounts, Meter, OnProgress, Progress
from gangsaw.tasks.engine.window import Options, run
from gangsaw.tasks.jobs.choose import choose_layout
from gangsaw.tasks.jobs.device import COPIES, batches_per_task, runs_on_gpu
from gangsaw.tasks.jobs.transcode import Transcode
from gangsaw.tasks.source import Source, SourceArray
from gangsaw.tasks.store.chunks import ArrayCoder
from gangsaw.tasks.store.journal import Job, Journal
from gangsaw.tasks.store.layout import ChunkChoice, CodecChoices, Layout, check_axes
from gangsaw.tasks.store.manifest import fold, read_manifest, split, write_manifest
from gangsaw.tasks.store.place import Place, open_place
from gangsaw.tasks.store.records import Records
from gangsaw.tasks.store.skeleton import Skeleton, build_skeleton
from gangsaw.tasks.store.target import choose_target, write_skeleton

if TYPE_CHECKING:
    from distributed import Client


RESUME = "finished batches are kept, run again with --resume"


@dataclass(frozen=True)
class Summary(Amounts):
    """What a finished job did.

    Attributes
    ----------
    store : where the store is
    arrays : their names
    chunks : number of chunks; `resumed` of them were done by an earlier run
    samples : of all arrays
    raw_bytes, stored_bytes : of all chunks
    seconds : wall clock of this run
    run_bytes : raw bytes of this run
    unread_bytes : of the files behind the last sample: their shape may have been too small
    """

    store: str
    arrays: tuple[str, ...]
    chunks: int
    resumed: int
    samples: int
    raw_bytes: int
    stored_bytes: int
    run_bytes: int
    seconds: float
    unread_bytes: int = 0

    @property
    def bits_per_sample(self) -> float:
        """Stored bits per sample."""
        return 8 * self.stored_bytes / self.samples if self.samples else 0.0


@dataclass(frozen=True)
class _Item:
    """A batch of one of the arrays; small arrays so share a window of futures."""

    task: Transcode
    batch: range

    def __str__(self) -> str:
        return f"{self.task.target}, {self.batch.start}..{self.batch.stop - 1}"


@dataclass(frozen=True)
class _Work:
    """The chunk function over batches of several arrays."""

    peak_bytes: int
    device_batches: int
    device_peak_bytes: int
    waits: bool  # for the disk, to settle
    name: str = "compress"

    def __call__(self, item: _Item) -> Records:
        return item.task(item.batch)

    def on_device(self, items: Sequence[_Item]) -> list[Records]:
        found: list[Records] = []
        for _, own in groupby(items, key=lambda item: id(item.task)):
            part = list(own)
            found += part[0].task.on_device([item.batch for item in part])
        return found

    def settle(self, items: Sequence[_Item], done: Sequence[Records]) -> None:
        for _, own in groupby(zip(items, done, strict=True), key=lambda pair: id(pair[0].task)):
            part = list(own)
            part[0][0].task.settle([records for _, records in part])


class _ArrayJob:
    """One array of a job: its chunk function and the records of its finished batches."""

    def __init__(self, task: Transcode, job: Job) -> None:
        self.task, self.job = task, job
        self.entries = task.journal.read_all(job.batches)
        manifest = _whole_manifest(task.target)
        self.had_manifest = self.finished = manifest is not None
        if manifest is not None:
            self._reopen(manifest, self._lost())

    def _reopen(self, manifest: Records, lost: set[int]) -> None:
        """Take what is done from the manifest, and from a run that stopped while it did this."""
        self.finished = not lost and not self.entries
        if self.finished:
            self.entries = {0: manifest}
            return
        done = {records.first: records for records in split(manifest, self.job.batches, self.coder)}
        self.entries = {**done, **self.entries}
        for batch in self.job.batches:
            if not lost.isdisjoint(batch):
                del self.entries[batch.start]
                self.task.journal.forget(batch)

    def _lost(self) -> set[int]:
        """Return the numbers of chunks that the manifest has and the store has not."""
        present = set(self.task.target.walk())
        key = self.coder.key
        return {number for number in range(self.job.n_chunks) if key(number) not in present}

    @cached_property
    def coder(self) -> ArrayCoder:
        return ArrayCoder(self.task.metadata)

    @property
    def left(self) -> list[range]:
        """The batches that are still to be done."""
        return [] if self.finished else [b for b in self.job.batches if b.start not in self.entries]

    @property
    def batch_bytes(self) -> int:
        """Raw bytes of a batch, padding included."""
        grid, dtype = self.coder.grid, self.coder.dtype
        return self.job.batch_chunks * math.prod(grid.chunks) * dtype.itemsize

    def finish(self) -> None:
        """Fold the journal into the manifest."""
        if not self.finished:
            write_manifest(self.task.target, fold(self.job.fingerprint, self.entries.values()))
        self.task.journal.remove()


def compress(
    source: Source,
    target: str | Path | Store,
    *,
    codec: CodecChoices = "auto",
    chunks: ChunkChoice = None,
    client: Client | None = None,
    options: Options | None = None,
    resume: bool = False,
    overwrite: bool = False,
    durable: bool = True,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Write every array of the source into a Zarr v3 group, chunk by chunk.

    Parameters
    ----------
    source : what to read
    target : path, address or Zarr store
    codec : Zarr serializer or compressor for the arrays, or one by name of each; "auto" chooses by
        content, "none" stores plain samples
    chunks : extents of a chunk, one per axis or by axis name, -1 for a whole axis; None chooses
    client : Dask client; None works in this thread
    options : resources, retries
    resume : finish what an earlier run with the same source and options began; of a finished store,
        do the batches again whose chunks were lost since
    overwrite : replace an existing store, which stays whole until the new one is
    durable : sync chunks to the disk before they count as done
    on_progress : called in this thread after each batch

    Raises
    ------
    BadParams
        Source, codec and chunks do not go together; the target may not be touched; a worker has
        too little memory.
    JobFailed
        The job stopped; what is finished is kept, and `resume` goes on from there.
    """
    started = time.monotonic()
    arrays = _arrays(source)
    check_axes(arrays, chunks)
    layouts = {array.name: choose_layout(array, codec, chunks, arrays) for array in arrays}
    skeleton = build_skeleton(source, layouts)
    final = open_place(target, writable=True)
    _check_apart(source, final)
    place = choose_target(final, skeleton.jobs, resume=resume, overwrite=overwrite)
    if resume:
        place.work.clean()
    write_skeleton(place, skeleton.objects, skeleton.jobs)
    jobs = [
        _ArrayJob(_task(array, place.work, skeleton, layouts[array.name], durable), job)
        for array, job in zip(source.arrays, skeleton.jobs.values(), strict=True)
    ]
    meter = _run(jobs, on_progress, started, client, options)
    for job in jobs:
        job.finish()
    place.publish()
    if not all(job.had_manifest for job in jobs):  # to mend what was finished is no reason
        place.drop_given_up()
    return _summary(str(final), source, meter.progress)


def decompress(source: Source, target: str | Path | Store, **options: object) -> Summary:
    """Write every array of the source into a Zarr store of plain samples; see `compress`."""
    return compress(source, target, codec="none", **options)  # type: ignore[arg-type]


def _whole_manifest(array: Place) -> Records | None:
    """Return the manifest, or None where there is none or a damaged one: then all is done anew."""
    try:
        return read_manifest(array)
    except CorruptChunk:
        return None


def _arrays(source: Source) -> tuple[SourceArray, ...]:
    names = [a.name for a in source.arrays] + [c.name for c in source.coords]
    if not source.arrays:
        raise BadParams(f"{source.name} holds no array")
    if len(set(names)) < len(names) or any("/" in name or not name for name in names):
        raise BadParams(f"{source.name}: names must differ and hold no '/': {', '.join(names)}")
    return source.arrays


def _check_apart(source: Source, final: Place) -> None:
    """Refuse a target that is the source, holds it or lies in it."""
    if final.folder is None or not Path(source.name).exists():
        return
    a, b = Path(source.name).resolve(), final.folder.resolve()
    if a == b or a in b.parents or b in a.parents:
        raise BadParams(f"the target {b} and the source {a} overlap: give another target")


def _task(
    array: SourceArray, work: Place, skeleton: Skeleton, layout: Layout, durable: bool
) -> Transcode:
    job, place = skeleton.jobs[array.name], work / array.name
    return Transcode(
        source=array,
        target=place,
        metadata=skeleton.metadata(array.name),
        journal=Journal(place, job.fingerprint, job.batch_chunks),
        peak_bytes=layout.peak_bytes(array),
        durable=durable,
    )


def _run(
    jobs: list[_ArrayJob],
    on_progress: OnProgress | None,
    started: float,
    client: Client | None,
    options: Options | None,
) -> Meter:
    meter = Meter(sum(job.job.n_chunks for job in jobs), on_progress, started)
    meter.resume(*_sums(records for job in jobs for records in job.entries.values()))
    entries = {id(job.task): job.entries for job in jobs}

    def on_done(item: _Item, records: Records) -> None:
        entries[id(item.task)][records.first] = records
        meter.add(*_sums([records]))

    work = _work(jobs)
    if options is not None and options.device == "gpu":
        _check_codecs(jobs)
    items = [_Item(job.task, batch) for job in jobs for batch in job.left]
    try:
        run(work, items, on_done, client=client, options=options)
    except JobFailed as error:
        raise JobFailed(f"{error}; {RESUME}") from error
    return meter


def _work(jobs: list[_ArrayJob]) -> _Work:
    batch_bytes = max(job.batch_bytes for job in jobs)
    n = batches_per_task(sum(len(job.left) for job in jobs), batch_bytes)
    peak = max(job.task.peak_bytes for job in jobs)
    durable = any(job.task.durable for job in jobs)
    return _Work(peak, n, peak + COPIES * n * batch_bytes, durable)


def _check_codecs(jobs: list[_ArrayJob]) -> None:
    if not any(runs_on_gpu(job.task.metadata) for job in jobs):
        places = ", ".join(str(job.task.target) for job in jobs)
        able = ", ".join(name for name in table.table() if table.has_module(name, "gpu"))
        raise BadParams(f"no codec of {places} runs on a GPU, as {able} do: leave --device gpu out")


def _sums(entries: Iterable[Records]) -> tuple[int, int, int]:
    """Return chunks, raw bytes and stored bytes."""
    rows = [(len(r.rows), r.raw_bytes, r.stored_bytes) for r in entries]
    chunks, raw_bytes, stored_bytes = map(sum, zip((0, 0, 0), *rows, strict=True))
    return chunks, raw_bytes, stored_bytes


def _summary(store: str, source: Source, progress: Progress) -> Summary:
    return Summary(
        store=store,
        arrays=tuple(array.name for array in source.arrays),
        chunks=progress.total,
        resumed=progress.resumed,
        samples=sum(math.prod(array.shape) for array in source.arrays),
        raw_bytes=progress.raw_bytes,
        stored_bytes=progress.stored_bytes,
        run_bytes=progress.run_bytes,
        seconds=progress.seconds,
        unread_bytes=sum(getattr(array, "unread_bytes", 0) for array in source.arrays),
    )
