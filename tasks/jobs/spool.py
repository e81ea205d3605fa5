"""A stream of unknown length into a Zarr store: chunk by chunk, into arrays that grow.

The codec is chosen by the first chunk. Each step of chunks along the first axis is journalled when
it is stored; at the end the arrays get their extents and their manifests. A stream cannot be read
again, so there is no resume.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from zarr.abc.store import Store

from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.engine.progress import Meter, OnProgress
from gangsaw.tasks.formats.memory import MemoryArray
from gangsaw.tasks.jobs.choose import choose_layout
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.regroup import Backlog, Pieces, regrouped, row_bytes, sampled
from gangsaw.tasks.source import Coordinate, Description, Stream
from gangsaw.tasks.store.chunks import METADATA, ArrayCoder
from gangsaw.tasks.store.journal import Job, Journal
from gangsaw.tasks.store.layout import (
    CHUNK_BYTES,
    ArrayLayout,
    ChunkChoice,
    CodecChoices,
    check_axes,
)
from gangsaw.tasks.store.manifest import fold, write_manifest
from gangsaw.tasks.store.place import Place, open_place
from gangsaw.tasks.store.records import ROW, Records
from gangsaw.tasks.store.skeleton import build_objects, digest
from gangsaw.tasks.store.target import JOB, choose_target, write_skeleton


@dataclass(frozen=True)
class Sample:
    """The beginning of a stream as a source, to choose codec and chunks."""

    name: str
    arrays: tuple[MemoryArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, Any] = field(default_factory=dict)

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
    overwrite : replace an existing store, which stays complete until the new one is
    on_progress : called after each step of chunks

    Raises
    ------
    BadParams
        The stream is empty or holds what its format forbids, the target may not be touched, or
        codec and chunks do not go together.
    """
    started = time.monotonic()
    lengths = {array.name: _rows(array, chunks) for array in stream.arrays}
    rows, pieces = sampled(stream, lengths)
    sample = _sample(stream, rows, lengths)
    layouts = _layouts(sample, choose(sample), chunks)
    objects = build_objects(stream.name, stream.arrays, stream.coords, stream.attrs, layouts)
    jobs = {array.name: _job(sample, array, objects, layouts) for array in stream.arrays}
    final = open_place(target, writable=True)
    place = choose_target(final, jobs, resume=False, overwrite=overwrite)
    write_skeleton(place, objects, jobs)
    meter = Meter(0, on_progress, started)
    arrays = {name: _Growing(place.work / name, job, objects) for name, job in jobs.items()}
    _fill(arrays, rows, pieces, meter)
    _finish(place.work, arrays, json.loads(objects[METADATA].to_bytes()))
    place.publish()
    place.drop_given_up()
    return _summary(str(final), arrays, meter)


class _Growing:
    """An array of the store that grows along its first axis, and what is stored of it."""

    def __init__(self, place: Place, job: Job, objects: Mapping[str, Any]) -> None:
        self.place, self.job, self.name = place, job, place.path.rpartition("/")[2]
        self.metadata: dict[str, Any] = json.loads(objects[f"{self.name}/{METADATA}"].to_bytes())
        self.coder = self._coder()
        self.length = self.coder.grid.chunks[0]
        self.journal = Journal(place, job.fingerprint, job.batch_chunks)
        self.entries: list[Records] = []

    @property
    def n_rows(self) -> int:
        return int(self.metadata["shape"][0])

    @property
    def n_chunks(self) -> int:
        return sum(len(records.rows) for records in self.entries)

    def append(self, samples: NDArray[Any]) -> Records:
        """Store a step of chunks and journal it."""
        first = self.n_chunks
        start, self.metadata["shape"][0] = self.n_rows, self.n_rows + len(samples)
        self.coder = self._coder()
        batch = range(first, first + self.job.batch_chunks)
        rows = np.array([self._stored(number, start, samples) for number in batch], ROW)
        records = Records(self.job.fingerprint, first, samples.nbytes, rows)
        self.place.flush(map(self.coder.key, batch))
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
        self.journal.remove()

    def _coder(self) -> ArrayCoder:
        return ArrayCoder(json.dumps(self.metadata).encode())

    def _stored(self, number: int, start: int, samples: NDArray[Any]) -> tuple[int, int]:
        rows, *rest = self.coder.grid.region(number)
        part = samples[(slice(rows.start - start, rows.stop - start), *rest)]
        stored = self.coder.encode(number, part)
        self.place.put(self.coder.key(number), stored)
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
    objects: Mapping[str, Any],
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
    lengths = {name: array.length for name, array in arrays.items()}
    for name, _, samples in regrouped(rows, pieces, lengths):
        records = arrays[name].append(samples)
        meter.add(len(records.rows), records.raw_bytes, records.stored_bytes)


def _finish(work: Place, arrays: Mapping[str, _Growing], group: dict[str, Any]) -> None:
    """Write the arrays' extents, then the group's metadata, and the manifests last."""
    for name, array in arrays.items():
        group["consolidated_metadata"]["metadata"][name] = array.metadata
        work.put(f"{name}/{METADATA}", json.dumps(array.metadata, indent=2).encode())
    work.put(METADATA, json.dumps(group, indent=2).encode())
    work.flush([*(f"{name}/{METADATA}" for name in arrays), METADATA])
    for array in arrays.values():
        array.finish()


def _summary(store: str, arrays: Mapping[str, _Growing], meter: Meter) -> Summary:
    done = meter.progress
    return Summary(
        store=store,
        arrays=tuple(arrays),
        chunks=done.done,
        resumed=0,
        samples=sum(math.prod(array.metadata["shape"]) for array in arrays.values()),
        raw_bytes=done.raw_bytes,
        stored_bytes=done.stored_bytes,
        run_bytes=done.run_bytes,
        seconds=done.seconds,
    )
