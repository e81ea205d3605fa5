"""Plan of the storage of a stream: codecs, chunks and objects, by its first rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from zarr.core.buffer import Buffer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.flat.memory_array import MemoryArray
from gangsaw.tasks.jobs.choice.choose import choose_layouts
from gangsaw.tasks.jobs.streams.growing import GrowingArray
from gangsaw.tasks.jobs.streams.regroup import Backlog, Pieces, read_sample, row_bytes
from gangsaw.tasks.sources.source import Coordinate, Description, Stream
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.arrays.layout import (
    CHUNK_BYTES,
    ArrayLayout,
    ChunkChoice,
    CodecChoices,
    check_axes,
)
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.skeleton import build_objects, digest
from gangsaw.tasks.store.state.journal import Job


@dataclass(frozen=True)
class StreamHead:
    """Source with the first rows of a stream, from which its codecs and chunks are chosen."""

    name: str
    arrays: tuple[MemoryArray, ...]
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)

    def identity(self) -> str:
        """Return the name of the stream, since its content is not known in advance."""
        return f"stream {self.name}"


Choose = Callable[[StreamHead], CodecChoices]


@dataclass(frozen=True, eq=False)
class StreamPlan:
    """Plan of the storage of a stream: what is written before its first chunk.

    Attributes
    ----------
    stream : stream to read
    sample : first chunk of each array
    rows : rows by array name that were read for the sample, and are stored first
    pieces : remaining pieces of the stream
    layouts : chunks and codec of each array, by name
    objects : objects of the store without rows, by key
    jobs : identity of the job of each array without rows, by name
    """

    stream: Stream
    sample: StreamHead
    rows: Mapping[str, Backlog]
    pieces: Pieces
    layouts: Mapping[str, ArrayLayout]
    objects: Mapping[str, Buffer]
    jobs: Mapping[str, Job]

    @classmethod
    def of(cls, stream: Stream, choose: Choose, chunks: ChunkChoice) -> StreamPlan:
        """Read the first chunk of each array, and choose codecs and chunks by it."""
        lengths = {array.name: _rows(array, chunks) for array in stream.arrays}
        rows, pieces = read_sample(stream, lengths)
        sample = _sample(stream, rows, lengths)
        layouts = _layouts(sample, choose(sample), chunks)
        objects = build_objects(stream.name, stream.arrays, stream.coords, stream.attrs, layouts)
        jobs = {array.name: _job(sample, array, objects, layouts) for array in stream.arrays}
        return cls(stream, sample, rows, pieces, layouts, objects, jobs)

    @property
    def origins(self) -> dict[str, bytes]:
        """Content of `ORIGIN` for each array, by name."""
        return {name: job.to_json() for name, job in self.jobs.items()}

    @property
    def metadata(self) -> dict[str, bytes]:
        """Bytes of zarr.json of each array without rows, by name."""
        return {name: self.objects[f"{name}/{METADATA}"].to_bytes() for name in self.layouts}

    @property
    def read_bytes(self) -> dict[str, int]:
        """Raw bytes of each array that have been read so far, by name."""
        return {a.name: self.rows[a.name].n_rows * row_bytes(a) for a in self.stream.arrays}

    def arrays(self, work: Prefix) -> dict[str, GrowingArray]:
        """Return the arrays of the store, still without rows, by name."""
        return {
            array.name: GrowingArray(
                work / array.name,
                self.jobs[array.name],
                self.layouts[array.name],
                array,
                self.objects[f"{array.name}/{METADATA}"],
            )
            for array in self.sample.arrays
        }


def _rows(array: Description, chunks: ChunkChoice) -> int:
    """Return the requested rows of a chunk, or their upper bound; raise BadParams below 1."""
    wanted = chunks.get(array.dims[0]) if isinstance(chunks, Mapping) else (chunks or (None,))[0]
    if wanted is not None and wanted < 1:
        raise BadParams(f"chunks of {array.name} must be 1 or more along {array.dims[0]}: it grows")
    return wanted or max(1, CHUNK_BYTES // row_bytes(array))


def _sample(stream: Stream, rows: Mapping[str, Backlog], lengths: Mapping[str, int]) -> StreamHead:
    """Return a source with the first chunk of each array; rows are repeated if they are few."""
    arrays = tuple(
        MemoryArray(rows[a.name].sample(lengths[a.name]), a.dims, a.name, a.attrs)
        for a in stream.arrays
    )
    return StreamHead(stream.name, arrays, stream.coords, stream.attrs)


def _layouts(
    sample: StreamHead, codec: CodecChoices, chunks: ChunkChoice
) -> dict[str, ArrayLayout]:
    check_axes(sample.arrays, chunks)
    return choose_layouts(sample.arrays, codec, chunks)


def _job(
    sample: StreamHead,
    array: Description,
    objects: Mapping[str, Buffer],
    layouts: Mapping[str, ArrayLayout],
) -> Job:
    """Return the identity of the job of an array without rows; its batches are steps."""
    extents = zip(array.shape[1:], layouts[array.name].chunks[1:], strict=True)
    return Job(
        source=f"{sample.identity()} {array.name}",
        array=digest(objects[f"{array.name}/{METADATA}"]),
        n_chunks=0,
        batch_chunks=math.prod(-(-n // c) for n, c in extents),
    )
