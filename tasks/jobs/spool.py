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
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from zarr.abc.store import Store
from zarr.core.buffer import Buffer, default_buffer_prototype

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.jobs.check import same_bits
from gangsaw.tasks.jobs.choose import choose_layout
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.regroup import Backlog, Pieces, regrouped, row_bytes, sampled
from gangsaw.tasks.source import Coordinate, Description, Stream, optional_names
from gangsaw.tasks.store.chunks import METADATA, ArrayCoder
from gangsaw.tasks.store.journal import FOLDER, Job, Journal
from gangsaw.tasks.store.layout import (
    CHUNK_BYTES,
    ArrayLayout,
    ChunkChoice,
    CodecChoices,
    check_axes,
)
from gangsaw.tasks.store.manifest import fold, read_manifest, write_manifest
from gangsaw.tasks.store.place import Place, open_place
from gangsaw.tasks.store.records import ROW, Records
from gangsaw.tasks.store.skeleton import build_objects, digest
from gangsaw.tasks.store.target import (
    JOB,
    ORIGIN,
    Target,
    choose_target,
    find_begun,
    write_skeleton,
)


@dataclass(frozen=True)
class Sample:
    """The beginning of a stream as a source, to choose codec and chunks."""

    name: str
    arrays: tuple[MemoryArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)

    def identity(self) -> str:
        """Name of the stream: its content is not known beforehand."""
        return f"stream {self.name}"


Choose = Callable[[Sample], CodecChoices]


def spool(
    stream: Stream,
    target: str | Path | Store,
    *,
    choose: Choose = lambda _: "auto",
    chunks: ChunkChoice = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> Summary:
    """Write every array of a stream into a Zarr v3 group, as its chunks become full.

    Parameters
    ----------
    stream : what to read
    target : path, address or Zarr store
    choose : returns the codec of each array, given the first chunk of all
    chunks : extents of a chunk as `compress` takes them; -1 not on the first axis, which grows
    resume : continue what an earlier run stored of the same stream, which is read again from its
        start and compared with it
    overwrite : replace an existing store, which stays complete until the new one is
    on_progress : called after each step of chunks

    Raises
    ------
    BadParams
        The stream is empty or holds what its format forbids, the target may not be touched, codec
        and chunks do not go together, or what an earlier run stored is not what is read now.
    """
    started = time.monotonic()
    lengths = {array.name: _rows(array, chunks) for array in stream.arrays}
    rows, pieces = sampled(stream, lengths)
    sample = _sample(stream, rows, lengths)
    layouts = _layouts(sample, choose(sample), chunks)
    objects = build_objects(stream.name, stream.arrays, stream.coords, stream.attrs, layouts)
    jobs = {array.name: _job(sample, array, objects, layouts) for array in stream.arrays}
    final = open_place(target, writable=True)
    origins = {name: job.to_json() for name, job in jobs.items()}
    begun = find_begun(final, origins) if resume else None
    if begun is not None and (done := _finished(begun.work, jobs)):
        return _known_summary(str(final), begun.work, done, started)
    place = begun or choose_target(final, jobs, resume=False, overwrite=overwrite)
    _write_begin(place, objects, jobs, origins)
    meter = Meter(0, on_progress, started)
    arrays = {name: _Growing(place.work / name, job, objects) for name, job in jobs.items()}
    _fill(arrays, rows, pieces, meter)
    _finish(place.work, arrays, objects[METADATA].to_bytes(), stream)
    place.publish()
    place.drop_given_up()
    return _summary(str(final), arrays, meter)


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


def _known_summary(
    store: str, work: Place, manifests: Mapping[str, Records], started: float
) -> Summary:
    """Return the summary of a store that an earlier run finished."""
    found = [work.get(f"{name}/{METADATA}") for name in manifests]
    shapes = [json.loads(data.to_bytes())["shape"] for data in found if data is not None]
    chunks = sum(len(records.rows) for records in manifests.values())
    return Summary(
        store=store,
        arrays=tuple(manifests),
        chunks=chunks,
        resumed=chunks,
        samples=sum(map(math.prod, shapes)),
        raw_bytes=sum(records.raw_bytes for records in manifests.values()),
        stored_bytes=sum(records.stored_bytes for records in manifests.values()),
        run_bytes=0,
        seconds=time.monotonic() - started,
    )


class _Growing:
    """An array of the store that grows along its first axis, and what is stored of it."""

    def __init__(self, place: Place, job: Job, objects: Mapping[str, Buffer]) -> None:
        self.place, self.job, self.name = place, job, place.path.rpartition("/")[2]
        metadata = json.loads(objects[f"{self.name}/{METADATA}"].to_bytes())
        self.metadata: dict[str, object] = metadata
        self.shape: list[int] = metadata["shape"]  # the same list, which grows
        self.coder = self._coder()
        self.length = self.coder.grid.chunks[0]
        self.journal = Journal(place, job.fingerprint, job.batch_chunks)
        self.entries: list[Records] = []

    @property
    def n_rows(self) -> int:
        return self.shape[0]

    @property
    def n_chunks(self) -> int:
        return sum(len(records.rows) for records in self.entries)

    def step(self, samples: NumpyArray) -> _Step:
        """Return the next step of chunks, which may be stored while others are."""
        start, self.shape[0] = self.n_rows, self.n_rows + len(samples)
        first = start // self.length * self.job.batch_chunks
        batch = range(first, first + self.job.batch_chunks)
        is_known = self.journal.read(batch) is not None
        return _Step(self, self._coder(), batch, start, samples, is_known)

    def note(self, step: _Step, rows: Sequence[tuple[int, int]]) -> Records:
        """Journal a step that is stored; the steps before it were."""
        raw = step.samples.nbytes
        records = Records(self.job.fingerprint, step.batch.start, raw, np.array(rows, ROW))
        if not step.is_known:
            self.journal.write(records)
        self.entries.append(records)
        return records

    def finish(self) -> None:
        """Record the final job, and fold the journal into the manifest."""
        metadata = self.place.get(METADATA)
        assert metadata is not None, "written before"
        whole = replace(self.job, n_chunks=self.n_chunks, array=digest(metadata))
        self.place.put(JOB, whole.to_json())
        write_manifest(self.place, fold(whole.fingerprint, self.entries))

    def _coder(self) -> ArrayCoder:
        return ArrayCoder(json.dumps(self.metadata).encode())


@dataclass(frozen=True)
class _Step:
    """Chunks side by side along the first axis of an array.

    Attributes
    ----------
    array : that grows
    coder : of the array as it is with them
    batch : numbers of the chunks
    start : first row
    samples : of all of them
    is_known : whether the journal has them
    """

    array: _Growing
    coder: ArrayCoder
    batch: range
    start: int
    samples: NumpyArray
    is_known: bool

    def store(self) -> list[tuple[int, int]]:
        """Encode and store the chunks, unless they are there; return bytes and checksum of each."""
        found = [self._found(number) if self.is_known else None for number in self.batch]
        rows = [row or self._stored(n) for row, n in zip(found, self.batch, strict=True)]
        self.array.place.flush(map(self.coder.key, self.batch))
        return rows

    def _found(self, number: int) -> tuple[int, int] | None:
        """Return those of a chunk that is in the store; BadParams where the source differs."""
        stored = self.array.place.get(self.coder.key(number))
        if stored is None:
            return None
        if not same_bits(self.coder.decode(number, stored), self._part(number)):
            raise BadParams(
                f"{self.array.place}: chunk {number} differs from the source, which has changed "
                "since: start again with --overwrite"
            )
        data = stored.as_numpy_array()
        return len(data), crc32c(data)

    def _part(self, number: int) -> NumpyArray:
        rows, *rest = self.coder.grid.region(number)
        return self.samples[(slice(rows.start - self.start, rows.stop - self.start), *rest)]

    def _stored(self, number: int) -> tuple[int, int]:
        stored = self.coder.encode(number, self._part(number))
        self.array.place.put(self.coder.key(number), stored)
        data = stored.as_numpy_array()
        return len(data), crc32c(data)


def _rows(array: Description, chunks: ChunkChoice) -> int:
    """Return the most samples that a chunk may have along the first axis."""
    wanted = chunks.get(array.dims[0]) if isinstance(chunks, Mapping) else (chunks or (None,))[0]
    if wanted is not None and wanted < 1:
        raise BadParams(f"chunks of {array.name} must be 1 or more along {array.dims[0]}: it grows")
    return wanted or max(1, CHUNK_BYTES // row_bytes(array))


def _sample(stream: Stream, rows: Mapping[str, Backlog], lengths: Mapping[str, int]) -> Sample:
    """Return a source of one chunk per array, its samples repeated where there are fewer so far."""
    if not any(part.n_rows for part in rows.values()):
        raise BadParams(f"{stream.name} is empty")
    arrays = tuple(
        MemoryArray(
            rows[array.name].sample(lengths[array.name]), array.dims, array.name, array.attrs
        )
        for array in stream.arrays
    )
    return Sample(stream.name, arrays, stream.coords, stream.attrs)


def _layouts(sample: Sample, codec: CodecChoices, chunks: ChunkChoice) -> dict[str, ArrayLayout]:
    check_axes(sample.arrays, chunks)
    return {
        array.name: choose_layout(array, codec, chunks, sample.arrays) for array in sample.arrays
    }


def _job(
    sample: Sample,
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
    arrays: Mapping[str, _Growing], rows: Mapping[str, Backlog], pieces: Pieces, meter: Meter
) -> None:
    """Store steps as they become full, one in each thread, and journal them in order."""
    lengths, at_once = {name: array.length for name, array in arrays.items()}, thread_limit()
    waiting: deque[tuple[_Step, Future[list[tuple[int, int]]]]] = deque()

    def finish(n_left: int) -> None:
        while len(waiting) > n_left:
            step, future = waiting.popleft()
            records = step.array.note(step, future.result())
            meter.add(len(records.rows), records.raw_bytes, records.stored_bytes)

    with ThreadPoolExecutor(at_once, thread_name_prefix="gangsaw-spool") as pool:
        try:
            for name, _, samples in regrouped(rows, pieces, lengths):
                finish(at_once - 1)
                step = arrays[name].step(samples)
                waiting.append((step, pool.submit(step.store)))
            finish(0)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _finish(work: Place, arrays: dict[str, _Growing], metadata: bytes, stream: Stream) -> None:
    """Write the arrays' extents, then the group's metadata, and the manifests last.

    Arrays of which the stream held nothing are removed where it said that this may be so.
    """
    group = json.loads(metadata)
    group["attributes"] |= getattr(stream, "outcome", {})
    for name in optional_names(stream.arrays):
        if not arrays[name].n_rows:
            (work / name).delete_all()
            del arrays[name], group["consolidated_metadata"]["metadata"][name]
    for name, array in arrays.items():
        group["consolidated_metadata"]["metadata"][name] = array.metadata
        work.put(f"{name}/{METADATA}", json.dumps(array.metadata, indent=2).encode())
    work.put(METADATA, json.dumps(group, indent=2).encode())
    work.flush([*(f"{name}/{METADATA}" for name in arrays), METADATA])
    for array in arrays.values():
        array.finish()
    for array in arrays.values():  # until now a run that stops can be resumed
        array.journal.remove()


def _summary(store: str, arrays: Mapping[str, _Growing], meter: Meter) -> Summary:
    done = meter.progress
    return Summary(
        store=store,
        arrays=tuple(arrays),
        chunks=done.done,
        resumed=0,
        samples=sum(math.prod(array.shape) for array in arrays.values()),
        raw_bytes=done.raw_bytes,
        stored_bytes=done.stored_bytes,
        run_bytes=done.run_bytes,
        seconds=done.seconds,
    )
