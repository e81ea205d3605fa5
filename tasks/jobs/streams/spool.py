"""Storage of a stream of unknown length in a Zarr store, chunk by chunk, in growing arrays.

The codec is chosen by the first chunk. Steps of chunks along the first axis are encoded and stored
in parallel, and journalled in order. At the end the arrays get their extents and manifests. An
interrupted job can be resumed if the stream can be read again: stored chunks are compared with it.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zarr.abc.store import Store
from zarr.core.buffer import default_buffer_prototype

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import attribute_to_codec
from gangsaw.tasks.engine.report.progress import Meter, OnProgress
from gangsaw.tasks.engine.run.run import Options, run_batches
from gangsaw.tasks.jobs.chunks.device import COPIES, device_of_most, host_notes
from gangsaw.tasks.jobs.compress import Summary, check_codecs
from gangsaw.tasks.jobs.runs.arrays import ArraysTask
from gangsaw.tasks.jobs.runs.counters import codec_named
from gangsaw.tasks.jobs.runs.history import publish_and_record
from gangsaw.tasks.jobs.runs.plan import plan_of
from gangsaw.tasks.jobs.runs.resume import hint_at_resume
from gangsaw.tasks.jobs.streams.growing import GrowingArray, StepBatch, StoredStep
from gangsaw.tasks.jobs.streams.regroup import regroup
from gangsaw.tasks.jobs.streams.stream_plan import Choose, StreamHead, StreamPlan
from gangsaw.tasks.jobs.streams.summaries import count_encoded, find_summary, summary_attributes
from gangsaw.tasks.sources.source import Stream, optional_names
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.arrays.layout import ChunkChoice
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.objects.versions import Watch
from gangsaw.tasks.store.state.job_folder import JOB, ORIGIN, JobFolder
from gangsaw.tasks.store.state.journal import FOLDER
from gangsaw.tasks.store.state.lease import Lease, hold_lease
from gangsaw.tasks.store.state.manifest import read_manifest
from gangsaw.tasks.store.state.records import Records
from gangsaw.tasks.store.state.target import (
    Target,
    choose_target,
    find_begun,
    write_skeleton,
)

if TYPE_CHECKING:
    from distributed import Client


def spool(
    stream: Stream,
    target: str | Path | Store,
    *,
    choose: Choose = lambda _: "auto",
    chunks: ChunkChoice = None,
    client: Client | None = None,
    options: Options | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Write every array of a stream into a Zarr v3 group, as its chunks become full.

    This process reads the stream and cuts it into steps of chunks. Its threads, or the client's
    workers, encode and store them.

    Parameters
    ----------
    stream : stream to read
    target : path, address or Zarr store
    choose : function that returns the codec of each array, given the first chunk of all arrays
    chunks : extents of a chunk as `compress` takes them; -1 not on the first axis, which grows
    client : Dask client; None works in this process, with its threads
    options : resources, retries, device
    resume : continue an interrupted run; the stream is read again from its start and compared with
        the chunks that the run stored
    overwrite : replace an existing store, which stays complete until the new one is
    on_progress : called after each step of chunks

    Raises
    ------
    BadParams
        The stream is invalid, the target may not be replaced, codec and chunks do not fit together,
        or a worker has too little memory. Or the samples differ from those of the run to be
        resumed.
    JobFailed
        A chunk could not be encoded or stored, the workers are gone, or a file of the stream
        changed while it was read, and the output of this run is discarded.
    """
    started, watch = time.monotonic(), Watch.of_sources(stream)
    plan = StreamPlan.of(stream, choose, chunks)
    final = open_prefix(target, writable=True)
    if options is not None and options.device == "gpu":
        check_codecs({f"{final}/{name}": data for name, data in plan.metadata.items()})
    with hold_lease(final) as lease:
        begun = find_begun(final, plan.origins, lease.confirm) if resume else None
        identity = _identity(plan.sample, watch)
        if begun is not None and (done := _finished(begun.work, plan.jobs)):
            _check_same(begun.work, done, identity)
            known = _known_summary(str(final), begun.work, done, started, options)
            return count_encoded(known, stream, summary_attributes(begun.work))
        used = device_of_most(plan.metadata, plan.read_bytes, options)
        place = begun or choose_target(
            final, plan.jobs, lease.confirm, resume=resume, overwrite=overwrite
        )
        dry_run.stop(lambda: plan_of(stream, target, plan.layouts, plan.objects))
        meter = Meter(0, on_progress, started)
        with publish_and_record("compress", place, plan.jobs):
            _write_begin(place, plan)
            arrays = plan.arrays(place.work)
            with watch.check_at_end(lambda: _give_up(arrays, lease)):
                _fill(arrays, plan, _StreamMeter(stream, meter, lease), client, used)
            lease.confirm()
            _finish(place.work, arrays, plan, identity)
        place.remove_abandoned()
    stored = {name: array.stored_metadata for name, array in arrays.items()}
    notes = host_notes(stored, "encode", options, used)
    whole = replace(find_summary(str(final), arrays, meter), notes=notes)
    return count_encoded(whole, stream, getattr(stream, "outcome", {}))


def _write_begin(place: Target, plan: StreamPlan) -> None:
    """Write the metadata before the first chunk, and marks by which `resume` finds the store."""
    as_buffer = default_buffer_prototype().buffer.from_bytes
    marks = {f"{name}/{ORIGIN}": as_buffer(data) for name, data in plan.origins.items()}
    write_skeleton(place, {**marks, **plan.objects}, plan.jobs)


def _finished(work: Prefix, names: Iterable[str]) -> dict[str, Records]:
    """Return the manifest of each array by name; {} if the earlier run did not finish."""
    there = [name for name in names if JobFolder(work / name, ORIGIN).has_job]
    found = {name: read_manifest(work / name) for name in there}
    is_open = any((work / name / FOLDER / "journal").names() for name in there)
    whole = {name: manifest for name, manifest in found.items() if manifest is not None}
    return {} if is_open or len(whole) < len(found) else whole


def _identity(sample: StreamHead, watch: Watch) -> str:
    """Return the identity of a whole stream: its name and the change stamps of its files."""
    return "; ".join([sample.identity(), *(f"{k} {v}" for k, v in watch.before.items())])


def _check_same(work: Prefix, names: Iterable[str], identity: str) -> None:
    """Raise BadParams if the files have changed since the store was finished."""
    for name in names:
        if JobFolder(work / name).text("source") != f"{identity} {name}":
            raise BadParams(
                f"{work} is finished, and its source has changed since, or an earlier version did "
                "not record it: gangsaw verify --against checks if they are equal, --overwrite "
                "starts again"
            )


def _known_summary(
    store: str,
    work: Prefix,
    manifests: Mapping[str, Records],
    started: float,
    options: Options | None,
) -> Summary:
    """Return the summary of a store that an earlier run had finished."""
    read = ((name, work.get(f"{name}/{METADATA}")) for name in manifests)
    found = {name: data.to_bytes() for name, data in read if data is not None}
    chunks = sum(len(records.rows) for records in manifests.values())
    return Summary(
        store=store,
        arrays=tuple(manifests),
        chunks=chunks,
        resumed=chunks,
        samples=sum(math.prod(json.loads(data)["shape"]) for data in found.values()),
        raw_bytes=sum(records.raw_bytes for records in manifests.values()),
        stored_bytes=sum(records.stored_bytes for records in manifests.values()),
        run_bytes=0,
        seconds=time.monotonic() - started,
        array_bytes={name: records.stored_bytes for name, records in manifests.items()},
        notes=host_notes(found, "encode", options),
    )


def _fill(
    arrays: Mapping[str, GrowingArray],
    plan: StreamPlan,
    meter: _StreamMeter,
    client: Client | None,
    options: Options | None,
) -> None:
    """Store steps in parallel as they become full, and journal them in order.

    If a step differs from that of an earlier run, no later step is journalled. The earlier run can
    then still be resumed with the right source.
    """
    growing = list(arrays.values())
    steps = regroup(plan.rows, plan.pieces, {name: one.length for name, one in arrays.items()})
    folders = (array.place.folder for array in growing)
    sees = (options or Options()).with_paths(*(folder and folder / JOB for folder in folders))
    codecs = [codec_named(array.stored_metadata) for array in growing]
    order: deque[tuple[int, int]] = deque()  # array index and first chunk of each step
    stored: dict[tuple[int, int], StoredStep] = {}

    def batches() -> Iterator[StepBatch]:
        for name, _, samples in steps:
            meter.taken_bytes += samples.nbytes
            step = arrays[name].step(list(arrays).index(name), samples)
            order.append((step.array, step.batch.start))
            yield step

    def on_done(batch: StepBatch, done: StoredStep) -> None:
        attribute_to_codec(codecs[batch.array])
        stored[batch.array, batch.batch.start] = done
        while order and order[0] in stored:
            array, records = growing[order[0][0]], _check_unchanged(stored.pop(order.popleft()))
            array.note(records)
            meter.add(records)

    with hint_at_resume() if meter.is_repeatable else nullcontext():
        run_batches(_task(growing), batches(), on_done, client=client, options=sees)


def _check_unchanged(done: StoredStep) -> Records:
    if done.problems:
        raise BadParams(
            f"{done.problems[0]}; to resume, what an earlier run read must be unchanged: start "
            "again with --overwrite"
        )
    return done.records


def _task(arrays: Sequence[GrowingArray]) -> ArraysTask[range, StoredStep]:
    peak = max(array.peak_bytes for array in arrays)
    carried = max(array.step_bytes for array in arrays)
    most = peak + COPIES * carried  # host memory of a task on a GPU
    return ArraysTask("compress", peak, 1, most, waits=True, carried_bytes=carried)


class _StreamMeter:
    """Progress of the storage of a stream.

    Attributes
    ----------
    is_repeatable : True if the stream can be read again
    taken_bytes : raw bytes of all steps that were passed to the engine
    """

    def __init__(self, stream: Stream, meter: Meter, lease: Lease) -> None:
        self.stream, self.meter, self.lease, self.taken_bytes = stream, meter, lease, 0
        self.is_repeatable = bool(getattr(stream, "is_repeatable", False))

    def add(self, records: Records) -> None:
        """Count a stored step."""
        self.lease.check()
        counts = len(records.rows), records.raw_bytes, records.stored_bytes
        self.meter.add(*counts, resumed=records.from_journal, share=self._share(records))

    def _share(self, records: Records) -> float | None:
        """Return the fraction of the stream that is stored, with these records; None if unknown.

        It is less than the fraction read, since some samples wait to be encoded.
        """
        read: float | None = getattr(self.stream, "share_read", None)
        if read is None:
            return None
        before = self.meter.progress
        share = read * (before.raw_bytes + records.raw_bytes) / max(1, self.taken_bytes)
        # a short file is read to its end before much of it is cut: never go back
        return max(before.share or 0.0, share)


def _give_up(arrays: Mapping[str, GrowingArray], lease: Lease) -> None:
    """Discard the stored steps by deleting their journals."""
    lease.confirm()
    for array in arrays.values():
        array.journal.remove()


def _finish(work: Prefix, arrays: dict[str, GrowingArray], plan: StreamPlan, identity: str) -> None:
    """Write the extents of the arrays, then the metadata of the group, and the manifests last.

    Optional arrays without rows are removed.
    """
    group = json.loads(plan.objects[METADATA].to_bytes())
    group["attributes"] |= getattr(plan.stream, "outcome", {})
    inline = group["consolidated_metadata"]["metadata"]
    for name in optional_names(plan.stream.arrays):
        if not arrays[name].n_rows:
            (work / name).delete_all()
            del arrays[name], inline[name]
    for name, array in arrays.items():
        inline[name] = json.loads(array.stored_metadata)
        work.put(f"{name}/{METADATA}", array.stored_metadata)
    work.put(METADATA, json.dumps(group, indent=2).encode())
    work.flush([*(f"{name}/{METADATA}" for name in arrays), METADATA])
    for name, array in arrays.items():
        array.finish(f"{identity} {name}")
    for array in arrays.values():  # without its journal, a run cannot be resumed
        array.journal.remove()
