"""Jobs that compress a source into a Zarr store or decompress one, with a journal of chunks."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from zarr.abc.store import Store

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.progress import Amounts, Meter, OnProgress, Progress
from gangsaw.tasks.engine.run.run import Options, check_task_memory
from gangsaw.tasks.jobs.choice.choose import choose_layouts, wide_notes
from gangsaw.tasks.jobs.chunks.device import host_notes, launch_batches
from gangsaw.tasks.jobs.chunks.in_memory import check_device
from gangsaw.tasks.jobs.chunks.transcode import Transcode, read_ahead_bytes
from gangsaw.tasks.jobs.runs.arrays import ArrayWork, run_arrays
from gangsaw.tasks.jobs.runs.history import publish_and_record
from gangsaw.tasks.jobs.runs.plan import plan_of
from gangsaw.tasks.jobs.runs.resume import ArrayRun, hint_at_resume
from gangsaw.tasks.sources.source import Source, SourceArray
from gangsaw.tasks.store.arrays.chunks import METADATA, ArrayCoder
from gangsaw.tasks.store.arrays.layout import (
    ArrayLayout,
    ChunkChoice,
    CodecChoices,
    check_axes,
    check_sizes,
)
from gangsaw.tasks.store.dataset.dims import describe_renamed_dims
from gangsaw.tasks.store.dataset.paths import check_paths
from gangsaw.tasks.store.objects.files import is_within, resolve_links
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.objects.versions import WatchedSource
from gangsaw.tasks.store.skeleton import Skeleton, build_skeleton
from gangsaw.tasks.store.state.journal import Journal
from gangsaw.tasks.store.state.lease import Lease, hold_lease
from gangsaw.tasks.store.state.ledger import EntryWriter
from gangsaw.tasks.store.state.records import Records
from gangsaw.tasks.store.state.target import Target, choose_target, write_skeleton

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Summary(Amounts):
    """Summary of a finished job.

    Parameters
    ----------
    store : str
        Path or address of the store.
    arrays : tuple of str
        Names of the arrays.
    chunks : int
        Number of chunks.
    resumed : int
        Number of these chunks that an earlier run had finished.
    samples : int
        Number of samples of all arrays.
    raw_bytes, stored_bytes : int
        Bytes of all chunks, before and after compression.
    run_bytes : int
        Raw bytes of this run.
    seconds : float
        Wall time of this run in seconds.
    unread_bytes : int, default 0
        Bytes of the files after the last sample: the given shape may be too small.
    array_bytes : dict, optional
        Stored bytes of each array of a stream.
    notes : tuple of str, default ()
        Further lines for the user, such as parts of the source that are not in the store.
    source_bytes : int, default 0
        Bytes of the files that were read; 0 if unknown.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> cube = np.arange(2 * 8 * 8, dtype="uint16").reshape(2, 8, 8)
    >>> summary = gangsaw.compress(cube, "cube.zarr")
    >>> summary.samples, summary.raw_bytes, summary.resumed
    (128, 256, 0)
    >>> summary.bits_per_sample < 16
    True
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
    array_bytes: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source_bytes: int = 0

    @property
    def bits_per_sample(self) -> float:
        """Stored bits per sample."""
        return 8 * self.stored_bytes / self.samples if self.samples else 0.0


def compress(
    source: Source | WatchedSource,
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
    source : arrays to read; changes of their files are watched from now on, or from the time at
        which a `WatchedSource` began
    target : path, address or Zarr store
    codec : Zarr serializer or compressor for all arrays, or a dict with one per array name; "auto"
        chooses by content, "none" stores plain samples
    chunks : extents of a chunk, one per axis or by axis name, -1 for a whole axis; None chooses
    client : Dask client; None works in this thread
    options : resources, retries
    resume : continue an interrupted run with the same source and options; in a finished store,
        repeat batches whose chunks have been lost
    overwrite : replace an existing store, which stays complete until the new one is
    durable : sync chunks to the disk before they count as finished
    on_progress : called in this thread after each batch

    Raises
    ------
    BadParams
        Source, codec and chunks do not fit together; the target may not be replaced; a worker has
        too little memory.
    JobFailed
        The job stopped; finished batches are safe, and `resume` continues from there. Or the source
        changed while it was read, and the output of this run is discarded.
    """
    started, opened = time.monotonic(), WatchedSource.wrap(source)
    source, watch = opened.source, opened.watch
    check_device(source.arrays, "cpu" if options is None else options.device)
    layouts, skeleton = _plan(source, codec, chunks)
    final = open_prefix(target, writable=True)
    _check_apart(source, final)
    check_task_memory(max(layouts[a.name].peak_bytes(a) for a in source.arrays), client, options)
    with hold_lease(final) as lease:
        place = choose_target(
            final, skeleton.jobs, lease.confirm, resume=resume, overwrite=overwrite
        )
        dry_run.stop(lambda: plan_of(source, target, layouts, skeleton.objects))
        total = sum(job.n_chunks for job in skeleton.jobs.values())
        log.info("%d chunks of %d arrays -> %s", total, len(layouts), place.work)
        job = _ChosenJob(source, layouts, skeleton, place, lease, client, options)
        with publish_and_record("compress", place, skeleton.jobs):
            arrays = job.begin(resume=resume, durable=durable)
            meter = Meter(sum(array.job.n_chunks for array in arrays), on_progress, started)
            entries = EntryWriter([array.ledger for array in arrays])
            with watch.check_at_end(lambda: _give_up(arrays, lease)):
                job.encode(arrays, entries, meter)
            job.finish(arrays, entries)
        if not all(array.had_manifest for array in arrays):
            place.remove_abandoned()  # a repair keeps the output of an abandoned overwrite
    return _summary(str(final), source, meter.progress, job.notes(arrays))


def decompress(
    source: Source,
    target: str | Path | Store,
    *,
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Write every array of the source as plain samples into a Zarr store; see `compress`."""
    return compress(
        source,
        target,
        codec="none",
        client=client,
        resume=resume,
        overwrite=overwrite,
        on_progress=on_progress,
    )


def _with_paths(options: Options | None, source: Source, work: Prefix) -> Options:
    """Restrict the job to workers that can open its source and its unfinished store."""
    begun = None if work.folder is None else work.folder / METADATA
    return (options or Options()).with_paths(source.name, begun)


def _plan(
    source: Source, codec: CodecChoices, chunks: ChunkChoice
) -> tuple[Mapping[str, ArrayLayout], Skeleton]:
    """Return the layout of each array by name, and all objects to write before the first chunk."""
    arrays = _checked_arrays(source)
    check_axes(arrays, chunks)
    check_sizes(arrays, chunks)
    layouts = choose_layouts(arrays, codec, chunks)
    return layouts, build_skeleton(source, layouts)


def _checked_arrays(source: Source) -> tuple[SourceArray, ...]:
    names = [a.name for a in source.arrays] + [c.name for c in source.coords]
    if not source.arrays:
        raise BadParams(f"{source.name} holds no array")
    if names != [""]:  # one array alone, at the root
        check_paths(source.name, names)
    return source.arrays


def _check_apart(source: Source, final: Prefix) -> None:
    """Raise BadParams if the target is the source, contains it or is inside it."""
    if final.folder is None or not Path(source.name).exists():
        return
    a, b = resolve_links(Path(source.name)), resolve_links(final.folder)
    if is_within(a, b) or is_within(b, a):
        raise BadParams(f"the target {b} and the source {a} overlap: give another target")


@dataclass(frozen=True)
class _ChosenJob:
    """Job whose target is chosen and leased, with what its steps share.

    Attributes
    ----------
    layouts : layout of each array by name
    skeleton : objects to write before the first chunk, and identities of the arrays' jobs
    place : location of the store
    lease : lease of the target
    """

    source: Source
    layouts: Mapping[str, ArrayLayout]
    skeleton: Skeleton
    place: Target
    lease: Lease
    client: Client | None
    options: Options | None

    def begin(self, *, resume: bool, durable: bool) -> list[ArrayRun]:
        """Write the objects before the first chunk; return each array's finished chunks."""
        if resume:
            self.place.work.clean()
        write_skeleton(self.place, self.skeleton.objects, self.skeleton.jobs)
        pairs = zip(self.source.arrays, self.skeleton.jobs.values(), strict=True)
        return [ArrayRun(self._function(array, durable=durable), job) for array, job in pairs]

    def encode(self, arrays: Sequence[ArrayRun], entries: EntryWriter, meter: Meter) -> None:
        """Process the remaining batches of all arrays."""
        options = _with_paths(self.options, self.source, self.place.work)
        if options.device == "gpu":
            check_codecs({str(a.function.target): a.function.metadata for a in arrays})
        known = [array.ledger for array in arrays]
        meter.resume(
            sum(one.n_done for one in known),
            sum(one.raw_bytes for one in known),
            sum(one.stored_bytes for one in known),
        )
        waits = any(array.function.durable for array in arrays)

        def on_done(array: int, records: Records) -> None:
            self.lease.check()
            arrays[array].add(records)
            if not arrays[array].function.journals:
                entries.add(array, records)
            meter.add(len(records.rows), records.raw_bytes, records.stored_bytes)

        works = [_work(array) for array in arrays]
        with hint_at_resume(), entries.write_on_failure():
            run_arrays("compress", works, on_done, waits=waits, client=self.client, options=options)

    def finish(self, arrays: Sequence[ArrayRun], entries: EntryWriter) -> None:
        """Write the manifests, since all chunks are done."""
        with hint_at_resume(), entries.write_on_failure():
            for number, array in enumerate(arrays):
                self.lease.confirm()
                array.finish()
                entries.forget(number)

    def notes(self, arrays: Sequence[ArrayRun]) -> tuple[str, ...]:
        """Return further lines for the user."""
        metadata = {array.function.source.name: array.function.metadata for array in arrays}
        return (
            *wide_notes(self.source.arrays, self.layouts),
            *describe_renamed_dims(self.source.arrays, self.source.coords),
            *host_notes(metadata, "encode", self.options),
        )

    def _function(self, array: SourceArray, *, durable: bool) -> Transcode:
        job, place = self.skeleton.jobs[array.name], self.place.work / array.name
        return Transcode(
            source=array,
            target=place,
            metadata=self.skeleton.metadata(array.name),
            journal=Journal(place, job.fingerprint, job.batch_chunks),
            peak_bytes=self.layouts[array.name].peak_bytes(array),
            durable=durable,
            again=self.client is not None,  # without a cluster no worker can be lost
            journals=not place.is_remote,
        )


def _work(array: ArrayRun) -> ArrayWork[range, Records]:
    batch_bytes = array.batch_chunks * array.coder.chunk_bytes
    return ArrayWork(
        function=array.function,
        batches=array.left,
        batch_bytes=batch_bytes,
        peak_bytes=array.function.peak_bytes + _read_ahead_bytes(array),
        launch_batches=launch_batches(array.coder, array.batch_chunks, "encode"),
        n_chunks=array.job.n_chunks,
    )


def _read_ahead_bytes(array: ArrayRun) -> int:
    function = array.function
    return read_ahead_bytes(function.source, function.target, array.coder.chunk_bytes)


def check_codecs(metadata: Mapping[str, bytes]) -> None:
    """Raise BadParams if no codec of the arrays runs on a GPU.

    Parameters
    ----------
    metadata : zarr.json of each array, by its path or address
    """
    if not any(map(_has_backend, metadata.values())):
        able = ", ".join(
            name for name in codec_table.capabilities() if codec_table.has_module(name, "gpu")
        )
        raise BadParams(
            f"no codec of {', '.join(metadata)} runs on a GPU, as {able} do: leave --device gpu out"
        )


def _give_up(arrays: Iterable[ArrayRun], lease: Lease) -> None:
    """Discard the output of this run, unless another job has taken the target over."""
    lease.confirm()
    for array in arrays:
        array.give_up()


def _has_backend(metadata: bytes) -> bool:
    """Return True if the array's codec has GPU kernels; the summary notes what runs on the CPU."""
    codec = ArrayCoder(metadata).array.serializer
    return isinstance(codec, BlockCodec) and BlockCodec.has_kernels(codec, "encode")


def _summary(store: str, source: Source, progress: Progress, notes: tuple[str, ...]) -> Summary:
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
        notes=(*getattr(source, "notes", ()), *notes),
    )
