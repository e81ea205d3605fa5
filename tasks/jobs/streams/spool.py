"""A stream of unknown length into a Zarr store: chunk by chunk, into arrays that grow.

The codec is chosen by the first chunk. Steps of chunks along the first axis are encoded and stored
side by side, and journalled in order; at the end the arrays get their extents and their manifests.
A stream that stopped can be resumed if it can be read again: what is stored is compared with it.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from zarr.abc.store import Store
from zarr.core.buffer import Buffer, default_buffer_prototype

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.engine.tally import at
from gangsaw.tasks.engine.window import Options, run
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.jobs.arrays import ArraysTask
from gangsaw.tasks.jobs.choice.choose import choose_layout
from gangsaw.tasks.jobs.compress import Summary, check_codecs
from gangsaw.tasks.jobs.device import COPIES, device_of_most, host_notes
from gangsaw.tasks.jobs.noted import published
from gangsaw.tasks.jobs.planned import plan_of
from gangsaw.tasks.jobs.resume import can_be_resumed
from gangsaw.tasks.jobs.streams.growing import GrowingArray, StepBatch, StepDone
from gangsaw.tasks.jobs.streams.regroup import Backlog, regrouped, row_bytes, sampled
from gangsaw.tasks.jobs.streams.summaries import attributes_of, stood_for, summary_of
from gangsaw.tasks.jobs.tallied import codec_named
from gangsaw.tasks.source import Coordinate, Description, Stream, optional_names
from gangsaw.tasks.store.chunks import METADATA
from gangsaw.tasks.store.layout import (
    CHUNK_BYTES,
    ArrayLayout,
    ChunkChoice,
    CodecChoices,
    check_axes,
)
from gangsaw.tasks.store.place import Place, open_place
from gangsaw.tasks.store.skeleton import build_objects, digest
from gangsaw.tasks.store.stamps import Watch
from gangsaw.tasks.store.state.journal import FOLDER, Job
from gangsaw.tasks.store.state.manifest import read_manifest
from gangsaw.tasks.store.state.records import Records
from gangsaw.tasks.store.state.target import (
    JOB,
    ORIGIN,
    Target,
    choose_target,
    find_begun,
    write_skeleton,
)

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class StreamHead:
    """The beginning of a stream as a source, to choose codec and chunks."""

    name: str
    arrays: tuple[MemoryArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)

    def identity(self) -> str:
        """Name of the stream: its content is not known beforehand."""
        return f"stream {self.name}"


Choose = Callable[[StreamHead], CodecChoices]


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

    This process reads the stream and cuts it into steps of chunks. Threads of it, or the client's
    workers, encode and store them.

    Parameters
    ----------
    stream : what to read
    target : path, address or Zarr store
    choose : returns the codec of each array, given the first chunk of all
    chunks : extents of a chunk as `compress` takes them; -1 not on the first axis, which grows
    client : Dask client; None works in this process, with its threads
    options : resources, retries, device
    resume : continue what an earlier run stored of the same stream, which is read again from its
        start and compared with it
    overwrite : replace an existing store, which stays complete until the new one is
    on_progress : called after each step of chunks

    Raises
    ------
    BadParams
        The stream holds what its format forbids, the target may not be touched, codec and chunks
        do not go together, a worker has too little memory, or what an earlier run stored is not
        what is read now.
    JobFailed
        A chunk could not be encoded or stored, the workers are gone, or a file of the stream
        changed while it was read: nothing that was made of it counts.
    """
    started, watch = time.monotonic(), Watch.of(stream)
    lengths = {array.name: _rows(array, chunks) for array in stream.arrays}
    rows, pieces = sampled(stream, lengths)
    sample = _sample(stream, rows, lengths)
    layouts = _layouts(sample, choose(sample), chunks)
    objects = build_objects(stream.name, stream.arrays, stream.coords, stream.attrs, layouts)
    jobs = {array.name: _job(sample, array, objects, layouts) for array in stream.arrays}
    final = open_place(target, writable=True)
    if options is not None and options.device == "gpu":
        check_codecs({f"{final}/{n}": objects[f"{n}/{METADATA}"].to_bytes() for n in layouts})
    origins = {name: job.to_json() for name, job in jobs.items()}
    begun = find_begun(final, origins) if resume else None
    identity = _identity(sample, watch)
    if begun is not None and (done := _finished(begun.work, jobs)):
        _check_same(begun.work, done, identity)
        known = _known_summary(str(final), begun.work, done, started, options)
        return stood_for(known, stream, attributes_of(begun.work))
    parts = {array.name: rows[array.name].n_rows * row_bytes(array) for array in stream.arrays}
    used = device_of_most(
        {n: objects[f"{n}/{METADATA}"].to_bytes() for n in layouts}, parts, options
    )
    place = begun or choose_target(final, jobs, resume=resume, overwrite=overwrite)
    rehearsal.stop(lambda: plan_of(stream, target, layouts, objects))
    meter = Meter(0, on_progress, started)
    with published("compress", place, jobs):
        _write_begin(place, objects, jobs, origins)
        arrays = {
            array.name: GrowingArray(
                place.work / array.name,
                jobs[array.name],
                layouts[array.name],
                array,
                objects[f"{array.name}/{METADATA}"],
            )
            for array in sample.arrays
        }
        steps = regrouped(rows, pieces, {name: array.length for name, array in arrays.items()})
        with watch.held(lambda: _give_up(arrays)):
            _fill(arrays, steps, _StreamMeter(stream, meter), client, used)
        _finish(place.work, arrays, objects[METADATA].to_bytes(), stream, identity)
    place.drop_given_up()
    stored = {name: array.stored_metadata for name, array in arrays.items()}
    notes = host_notes(stored, "encode", options, used)
    whole = replace(summary_of(str(final), arrays, meter), notes=notes)
    return stood_for(whole, stream, getattr(stream, "outcome", {}))


def _write_begin(
    place: Target,
    objects: Mapping[str, Buffer],
    jobs: Mapping[str, Job],
    origins: Mapping[str, bytes],
) -> None:
    """Write what is there before the first chunk, and what a later run knows it by."""
    as_buffer = default_buffer_prototype().buffer.from_bytes
    marks = {f"{name}/{ORIGIN}": as_buffer(data) for name, data in origins.items()}
    write_skeleton(place, {**marks, **objects}, jobs)


def _finished(work: Place, names: Iterable[str]) -> dict[str, Records]:
    """Return the manifests of all arrays; none where the run before did not come to its end."""
    there = [name for name in names if (work / name).get(ORIGIN) is not None]
    found = {name: read_manifest(work / name) for name in there}
    is_open = any((work / name / FOLDER / "journal").names() for name in there)
    whole = {name: manifest for name, manifest in found.items() if manifest is not None}
    return {} if is_open or len(whole) < len(found) else whole


def _identity(sample: StreamHead, watch: Watch) -> str:
    """Return what identifies a stream that was read whole: the files that it came from, too."""
    return "; ".join([sample.identity(), *(f"{k} {stamp}" for k, stamp in watch.before.items())])


def _check_same(work: Place, names: Iterable[str], identity: str) -> None:
    """Raise BadParams where a finished store is not that of the files as they are now."""
    for name in names:
        job = (work / name).get(JOB)
        source = "" if job is None else str(json.loads(job.to_bytes())["source"])
        if source != f"{identity} {name}":
            raise BadParams(
                f"{work} is finished, and its source has changed since, or an earlier version did "
                "not note it: gangsaw verify --against tells whether they are equal, --overwrite "
                "starts again"
            )


def _known_summary(
    store: str,
    work: Place,
    manifests: Mapping[str, Records],
    started: float,
    options: Options | None,
) -> Summary:
    """Return the summary of a store that an earlier run finished."""
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


def _rows(array: Description, chunks: ChunkChoice) -> int:
    """Return the most samples that a chunk may have along the first axis."""
    wanted = chunks.get(array.dims[0]) if isinstance(chunks, Mapping) else (chunks or (None,))[0]
    if wanted is not None and wanted < 1:
        raise BadParams(f"chunks of {array.name} must be 1 or more along {array.dims[0]}: it grows")
    return wanted or max(1, CHUNK_BYTES // row_bytes(array))


def _sample(stream: Stream, rows: Mapping[str, Backlog], lengths: Mapping[str, int]) -> StreamHead:
    """Return a source of one chunk per array, its samples repeated where there are fewer so far."""
    arrays = tuple(
        MemoryArray(rows[a.name].sample(lengths[a.name]), a.dims, a.name, a.attrs)
        for a in stream.arrays
    )
    return StreamHead(stream.name, arrays, stream.coords, stream.attrs)


def _layouts(
    sample: StreamHead, codec: CodecChoices, chunks: ChunkChoice
) -> dict[str, ArrayLayout]:
    check_axes(sample.arrays, chunks)
    return {
        array.name: choose_layout(array, codec, chunks, sample.arrays) for array in sample.arrays
    }


def _job(
    sample: StreamHead,
    array: Description,
    objects: Mapping[str, Buffer],
    layouts: Mapping[str, ArrayLayout],
) -> Job:
    """Return the job of an array without chunks; a batch is a step along the first axis."""
    extents = zip(array.shape[1:], layouts[array.name].chunks[1:], strict=True)
    return Job(
        source=f"{sample.identity()} {array.name}",
        array=digest(objects[f"{array.name}/{METADATA}"]),
        n_chunks=0,
        batch_chunks=math.prod(-(-n // c) for n, c in extents),
    )


def _fill(
    arrays: Mapping[str, GrowingArray],
    steps: Iterator[tuple[str, int, NumpyArray]],
    meter: _StreamMeter,
    client: Client | None,
    options: Options | None,
) -> None:
    """Store steps as they become full, side by side, and journal them in order.

    Where one is not what an earlier run read, none behind it is journalled: that run can still be
    resumed with the right source.
    """
    growing = list(arrays.values())
    codecs = [codec_named(array.stored_metadata) for array in growing]
    order: deque[tuple[int, int]] = deque()  # of steps: number of the array, first chunk
    stored: dict[tuple[int, int], StepDone] = {}

    def batches() -> Iterator[StepBatch]:
        for name, _, samples in steps:
            meter.taken_bytes += samples.nbytes
            step = arrays[name].step(list(arrays).index(name), samples)
            order.append((step.array, step.batch.start))
            yield step

    def on_done(batch: StepBatch, done: StepDone) -> None:
        at(codecs[batch.array])
        stored[batch.array, batch.batch.start] = done
        while order and order[0] in stored:
            array, records = growing[order[0][0]], _unchanged(stored.pop(order.popleft()))
            array.note(records)
            meter.add(records)

    with can_be_resumed() if meter.is_repeatable else nullcontext():
        run(_task(growing), batches(), on_done, client=client, options=options)


def _unchanged(done: StepDone) -> Records:
    if done.problems:
        raise BadParams(
            f"{done.problems[0]}; to resume, what an earlier run read must be unchanged: start "
            "again with --overwrite"
        )
    return done.records


def _task(arrays: Sequence[GrowingArray]) -> ArraysTask[range, StepDone]:
    peak = max(array.peak_bytes for array in arrays)
    carried = max(array.step_bytes for array in arrays)
    most = peak + COPIES * carried  # on a device
    return ArraysTask("compress", peak, 1, most, waits=True, carried_bytes=carried)


class _StreamMeter:
    """How far a stream has come.

    Attributes
    ----------
    is_repeatable : whether it can be read again
    taken_bytes : of all steps that were given to the engine
    """

    def __init__(self, stream: Stream, meter: Meter) -> None:
        self.stream, self.meter, self.taken_bytes = stream, meter, 0
        self.is_repeatable = bool(getattr(stream, "is_repeatable", False))

    def add(self, records: Records) -> None:
        """Count a step that is stored."""
        counts = len(records.rows), records.raw_bytes, records.stored_bytes
        self.meter.add(*counts, resumed=records.from_journal, share=self._share(records))

    def _share(self, records: Records) -> float | None:
        """Return what is done with these: of what was read, some waits to be cut and encoded."""
        read: float | None = getattr(self.stream, "share_read", None)
        if read is None:
            return None
        before = self.meter.progress
        share = read * (before.raw_bytes + records.raw_bytes) / max(1, self.taken_bytes)
        return max(before.share or 0.0, share)  # a short file is read before much of it is cut


def _give_up(arrays: Mapping[str, GrowingArray]) -> None:
    """Let no step that is stored count."""
    for array in arrays.values():
        array.journal.remove()


def _finish(
    work: Place, arrays: dict[str, GrowingArray], metadata: bytes, stream: Stream, identity: str
) -> None:
    """Write the arrays' extents, then the group's metadata, and the manifests last.

    Arrays of which the stream held nothing are removed where it said that this may be so.
    """
    group = json.loads(metadata)
    group["attributes"] |= getattr(stream, "outcome", {})
    inline = group["consolidated_metadata"]["metadata"]
    for name in optional_names(stream.arrays):
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
    for array in arrays.values():  # until now a run that stops can be resumed
        array.journal.remove()
